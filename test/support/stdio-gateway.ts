/**
 * Stands for a gateway in tests that kill it: a warden and stdio children. Prints what each says of its descriptors, then
 * `ready`. Argv: how many children, `stay` or `close`, then the arguments of each.
 */
import { closeInherited } from '../../src/connector/mcp/descriptors.ts'
import { createStdioTransport } from '../../src/connector/mcp/stdio.ts'
import { createWarden } from '../../src/connector/mcp/warden.ts'
import { join } from 'node:path'

closeInherited()
const [count = '1', mode = 'stay', ...args] = process.argv.slice(2)
const log = {
  info: () => {},
  warn: (fields: object, message: string) => console.error(JSON.stringify({ message, ...fields })),
}
const warden = createWarden({ log })
const transport = createStdioTransport({
  name: 'scripted',
  command: process.execPath,
  args: [join(import.meta.dirname, 'stdio-upstream.mjs'), ...args],
  warden,
  log,
  redact: (text) => text,
})
const wires = Array.from({ length: Number(count) }, () =>
  transport.open({ onMessage: () => {}, onClose: (problem) => console.error(problem.reason) }),
)
await Promise.all(
  wires.map(
    (wire) =>
      new Promise<void>((resolve) => {
        const text = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"descriptors"}}'
        wire.request(
          { id: 1, method: 'tools/call', name: 'descriptors', text },
          { onMessage: ({ text: answer }) => console.log(answer), onEnd: () => resolve() },
        )
      }),
  ),
)
console.log('ready')
if (mode === 'close') {
  await transport.close()
  warden.close()
}
