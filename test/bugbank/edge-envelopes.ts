/** Ways to wrap a call of a forbidden tool (reliability A6, bug bank group 8). Data only. */
import { gzipSync } from 'node:zlib'

export const MODERN = '2026-07-28'

/** A request by its params, and by other members before them. */
export const legacyBody = (params: string, rest = '"method":"tools/call"') =>
  `{"jsonrpc":"2.0","id":1,${rest},"params":${params}}`
export const META = `"_meta":{"io.modelcontextprotocol/protocolVersion":"${MODERN}","io.modelcontextprotocol/clientCapabilities":{}}`
export const modernHeaders = (name: string) => ({
  'mcp-protocol-version': MODERN,
  'mcp-method': 'tools/call',
  'mcp-name': name,
})

const DELETE = legacyBody('{"name":"u__delete","arguments":{}}')
const DELETE_MODERN = legacyBody(`{"name":"u__delete","arguments":{},${META}}`)
/** The same params for the modern era. */
export const both = (text: string) => text.replace('{"name"', `{${META},"name"`)

/** Forty ways to wrap a call of a forbidden tool. Each as `[how, body, headers]`. */
export const envelopes: ReadonlyArray<[string, string | Buffer, Record<string, string>?]> = [
  ['plainly', DELETE],
  ['plainly, modern', DELETE_MODERN, modernHeaders('u__delete')],
  ['a batch of one', `[${DELETE}]`],
  ['a batch in a batch', `[[${DELETE}]]`],
  ['a batch behind blanks', `\r\n\t [${DELETE}]`],
  ['name twice, forbidden last', legacyBody('{"name":"u__echo","name":"u__delete","arguments":{}}')],
  ['name twice, forbidden first', legacyBody('{"name":"u__delete","name":"u__echo","arguments":{}}')],
  ['name twice, one escaped', legacyBody('{"name":"u__echo","n\\u0061me":"u__delete"}')],
  ['Name beside name', legacyBody('{"name":"u__echo","Name":"u__delete"}')],
  ['NAME alone', legacyBody('{"NAME":"u__delete"}')],
  ['METHOD beside method', legacyBody('{"name":"u__delete"}', '"method":"tools/list","METHOD":"tools/call"')],
  ['Method alone', legacyBody('{"name":"u__delete"}', '"Method":"tools/call"')],
  ['method twice', legacyBody('{"name":"u__delete"}', '"method":"ping","method":"tools/call"')],
  ['Params beside params', legacyBody('{"name":"u__echo"},"Params":{"name":"u__delete"}')],
  ['params twice', legacyBody('{"name":"u__echo"},"params":{"name":"u__delete"}')],
  ['jsonrpc twice', `{"jsonrpc":"1.0",${DELETE.slice(1)}`],
  ['id twice', `{"id":2,${DELETE.slice(1)}`],
  ['a key with NUL behind it', legacyBody('{"name":"u__echo","name\\u0000":"u__delete"}')],
  ['a key with NUL before it', legacyBody('{"name":"u__echo","\\u0000name":"u__delete"}')],
  ['a key with a zero-width space', legacyBody('{"name":"u__echo","name\\u200b":"u__delete"}')],
  ['a key with a blank', legacyBody('{"name":"u__echo","name ":"u__delete"}')],
  ['a full-width key', legacyBody('{"name":"u__echo","ｎａｍｅ":"u__delete"}')],
  ['an escaped key', legacyBody('{"\\u006eame":"u__delete"}')],
  ['an escaped value', legacyBody('{"name":"u__\\u0064elete"}')],
  ['__proto__ at the top', `{"__proto__":{"params":{"name":"u__delete"}},${legacyBody('{}').slice(1)}`],
  ['__proto__ in params', legacyBody('{"__proto__":{"name":"u__delete"},"arguments":{}}')],
  ['constructor in params', legacyBody('{"constructor":{"prototype":{"name":"u__delete"}}}')],
  ['params as an array', legacyBody('[{"name":"u__delete"}]')],
  ['params as a list of values', legacyBody('["u__delete",{}]')],
  ['params as text', legacyBody('"u__delete"')],
  ['params null', legacyBody('null')],
  ['name as an array', legacyBody('{"name":["u__delete"]}')],
  ['name as an object', legacyBody('{"name":{"toString":"u__delete"}}')],
  ['a byte order mark', `\ufeff${DELETE}`],
  ['UTF-16 with a mark', Buffer.from(`\ufeff${DELETE}`, 'utf16le')],
  ['UTF-16 without a mark', Buffer.from(DELETE, 'utf16le'), { 'content-type': 'application/json; charset=utf-16' }],
  ['UTF-7 by its charset', DELETE.replace('_', '+AF8-'), { 'content-type': 'application/json; charset=utf-7' }],
  [
    'overlong UTF-8',
    Buffer.concat([
      Buffer.from('{"jsonrpc":"2.0","x":"'),
      Buffer.from([0xc0, 0xaf]),
      Buffer.from(`",${DELETE.slice(1)}`),
    ]),
  ],
  ['gzip, said', gzipSync(DELETE), { 'content-encoding': 'gzip' }],
  ['gzip, not said', gzipSync(DELETE)],
  ['identity, said', DELETE, { 'content-encoding': 'identity' }],
  ['text/plain', DELETE, { 'content-type': 'text/plain' }],
  ['a form', DELETE, { 'content-type': 'application/x-www-form-urlencoded' }],
  ['a type with JSON at its end', DELETE, { 'content-type': 'text/plain; application/json' }],
  ['a header that names an allowed tool', DELETE_MODERN, modernHeaders('u__echo')],
  ['a header that names the forbidden one', legacyBody(`{"name":"u__echo",${META}}`), modernHeaders('u__delete')],
  ['a header that says tools/list', DELETE_MODERN, { ...modernHeaders('u__delete'), 'mcp-method': 'tools/list' }],
  ['a method override', DELETE, { 'x-http-method-override': 'GET', 'x-mcp-tool': 'u__echo' }],
  ['two messages, one behind the other', `${legacyBody('{"name":"u__echo"}')}${DELETE}`],
  ['two messages, a line each', `${legacyBody('{"name":"u__echo"}')}\n${DELETE}`],
  ['a comment inside', DELETE.replace('{', '{/* */')],
  ['a comma too many', DELETE.replace(/}}$/, '},}')],
  ['single quotes', DELETE.replaceAll('"', "'")],
  ['a notification', '{"jsonrpc":"2.0","method":"tools/call","params":{"name":"u__delete"}}'],
  ['an answer', '{"jsonrpc":"2.0","id":1,"result":{"method":"tools/call","params":{"name":"u__delete"}}}'],
  ['an answer with a method', `{"result":{},${DELETE.slice(1)}`],
  ['a name in _meta', legacyBody('{"_meta":{"name":"u__delete"}}')],
  ['a task', legacyBody('{"name":"u__delete","task":{"ttl":1000}}')],
  [
    'a made-up request state',
    legacyBody(`{"name":"u__delete","requestState":"abc.def","inputResponses":{},${META}}`),
    modernHeaders('u__delete'),
  ],
]

/** The envelope with what the modern era wants in its first params; undefined where it has none. */
export function modernTwin(body: string): string | undefined {
  return body.includes('"params":{') ? body.replace('"params":{', `"params":{${META},`).replace(',}', '}') : undefined
}
