/**
 * An agent definition from a file. What is code is never run: a definition is read, or refused.
 * @module
 */
import { extname } from 'node:path'
import { readFile } from '../config/files.ts'
import { readData } from '../policy/data-file.ts'
import { type AgentDefinition, agentDefinition } from '../session/definition.ts'
import { CliError } from './output.ts'

const DATA = ['.json', '.yaml', '.yml']

/**
 * The tools a definition names, and the names of its servers. Commands, addresses and keys of its servers stay where
 * they are. Throws CliError with everything that is wrong with the file.
 */
export function readDefinition(path: string): AgentDefinition {
  if (!DATA.includes(extname(path).toLowerCase())) {
    throw new CliError(
      `${path} is not JSON or YAML, and a definition that is code is not run. Write its toolNames and mcpServers into a .json or .yaml file.`,
    )
  }
  const problems: string[] = []
  const data = readFile(path, '--definition', problems)
  const read = data && readData(agentDefinition, data)
  if (read?.ok === false) problems.push(...read.problems)
  if (read?.ok !== true) throw new CliError(problems.join(' '), { problems })
  const { toolNames, mcpServers } = read.value
  return {
    toolNames: toolNames ?? [],
    ...(mcpServers === undefined
      ? {}
      : { mcpServers: Object.fromEntries(Object.keys(mcpServers ?? {}).map((name) => [name, {}])) }),
  }
}
