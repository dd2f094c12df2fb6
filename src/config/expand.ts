/**
 * `${VAR}` and `${VAR:-default}` in the configuration file, as `.mcp.json` has them; `${env:VAR}`, which some clients write, too.
 * The result may be a secret: nothing said here quotes it.
 * @module
 */

const REFERENCE = /\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g

/** Variables that are the gateway's own and go to no upstream. */
const OWN = new Set(['TOLLGATE_SECRET', 'TOLLGATE_ADMIN_KEY'])

export type Env = Readonly<Record<string, string | undefined>>

/** The text with every reference replaced, once; and a sentence for each that cannot be. An empty variable counts as unset. */
export function expand(
  text: string,
  env: Env,
): { readonly text: string; readonly problems: string[]; readonly used: string[] } {
  const problems: string[] = []
  const used: string[] = []
  if (/\$\{input:/.test(text))
    problems.push(`asks for input as an editor does; name a variable instead, as in \${NAME}, and set it.`)
  const replaced = text.replace(REFERENCE, (_reference, name: string, fallback: string | undefined) => {
    used.push(name)
    const value = env[name]
    if (OWN.has(name))
      problems.push(`names ${name}, which is the gateway's own and never leaves it; use another variable.`)
    else if (value !== undefined && value !== '') return value
    else if (fallback !== undefined) return fallback
    else problems.push(`needs ${name}, which is unset or empty: set it, or write \${${name}:-default}.`)
    return ''
  })
  return { text: replaced, problems, used }
}
