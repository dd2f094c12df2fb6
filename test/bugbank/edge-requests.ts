/** Raw requests that nobody should send (reliability G4), and who may knock at all (G5). Data only. */
import { rawRequest } from '../support/raw.ts'
import { legacyBody } from './edge-envelopes.ts'

/** Header lines of an ordinary request. */
export const common = (token: string, ...more: string[]): string[] => [
  'Host: localhost',
  `Authorization: Bearer ${token}`,
  'Content-Type: application/json',
  'Accept: application/json',
  ...more,
]
export const LINE = 'POST /mcp HTTP/1.1'
export const ECHO = legacyBody('{"name":"u__echo","arguments":{}}')
export const BAD = legacyBody('{"name":"u__delete","arguments":{"smuggled":true}}')

const smuggled = (token: string) =>
  `POST /mcp HTTP/1.1\r\n${common(token, `Content-Length: ${BAD.length}`).join('\r\n')}\r\n\r\n${BAD}`

/** Raw requests that two readers could read in two ways, or that nobody should send; each with what may come back. */
export const requests: ReadonlyArray<[string, (token: string) => string | Buffer, number[]]> = [
  [
    'length and chunked, length first',
    (token) =>
      rawRequest(
        LINE,
        common(token, `Content-Length: ${ECHO.length}`, 'Transfer-Encoding: chunked'),
        `0\r\n\r\n${smuggled(token)}`,
      ),
    [400],
  ],
  [
    'chunked and length',
    (token) =>
      rawRequest(
        LINE,
        common(token, 'Transfer-Encoding: chunked', 'Content-Length: 4'),
        `1\r\nx\r\n0\r\n\r\n${smuggled(token)}`,
      ),
    [400],
  ],
  [
    'two different lengths',
    (token) => rawRequest(LINE, common(token, 'Content-Length: 0', `Content-Length: ${ECHO.length}`), ECHO),
    [400],
  ],
  [
    'two equal lengths',
    (token) =>
      rawRequest(LINE, common(token, `Content-Length: ${ECHO.length}`, `Content-Length: ${ECHO.length}`), ECHO),
    [400, 401],
  ],
  [
    'a list of lengths',
    (token) => rawRequest(LINE, common(token, `Content-Length: ${ECHO.length}, ${ECHO.length}`), ECHO),
    [400],
  ],
  ['a length with a sign', (token) => rawRequest(LINE, common(token, `Content-Length: +${ECHO.length}`), ECHO), [400]],
  ['a negative length', (token) => rawRequest(LINE, common(token, 'Content-Length: -1'), ECHO), [400]],
  ['a length in hex', (token) => rawRequest(LINE, common(token, 'Content-Length: 0x10'), ECHO), [400]],
  [
    'a length of 2^64',
    (token) => rawRequest(LINE, common(token, 'Content-Length: 18446744073709551616'), ECHO),
    [400, 413],
  ],
  [
    'a blank before the colon',
    (token) => rawRequest(LINE, common(token, `Content-Length : ${ECHO.length}`), ECHO),
    [400],
  ],
  [
    'an unknown coding',
    (token) => rawRequest(LINE, common(token, 'Transfer-Encoding: xchunked'), `0\r\n\r\n${smuggled(token)}`),
    [400, 501],
  ],
  [
    'chunked twice',
    (token) =>
      rawRequest(
        LINE,
        common(token, 'Transfer-Encoding: chunked', 'Transfer-Encoding: identity'),
        `0\r\n\r\n${smuggled(token)}`,
      ),
    [400, 501],
  ],
  [
    'chunked not last',
    (token) => rawRequest(LINE, common(token, 'Transfer-Encoding: chunked, gzip'), `0\r\n\r\n${smuggled(token)}`),
    [400, 501],
  ],
  [
    'a chunk size with a sign',
    (token) => rawRequest(LINE, common(token, 'Transfer-Encoding: chunked'), `+5\r\nhello\r\n0\r\n\r\n`),
    [400],
  ],
  [
    'a chunk size of 2^64',
    (token) => rawRequest(LINE, common(token, 'Transfer-Encoding: chunked'), `fffffffffffffffff\r\nx`),
    [400, 413],
  ],
  [
    'a chunk that ends in bare LF',
    (token) => rawRequest(LINE, common(token, 'Transfer-Encoding: chunked'), `1\nx\n0\n\n${smuggled(token)}`),
    [400],
  ],
  [
    'a folded header',
    (token) => rawRequest(LINE, common(token, `Content-Length: ${ECHO.length}`, 'X-A: b\r\n c: d'), ECHO),
    [200, 400],
  ],
  ['a folded length', (token) => rawRequest(LINE, common(token, `Content-Length:\r\n ${ECHO.length}`), ECHO), [400]],
  ['NUL in a header', (token) => rawRequest(LINE, common(token, `X-A: a\0b`), ECHO), [400]],
  ['NUL in a header name', (token) => rawRequest(LINE, common(token, `X\0A: a`), ECHO), [400]],
  ['CR in a header', (token) => rawRequest(LINE, common(token, `X-A: a\rTransfer-Encoding: chunked`), ECHO), [400]],
  [
    'bare LF in a header',
    (token) => rawRequest(LINE, common(token, `X-A: a\nTransfer-Encoding: chunked`), `0\r\n\r\n${smuggled(token)}`),
    [400],
  ],
  [
    'bare LF as every line end',
    (token) => `${LINE}\n${common(token, `Content-Length: ${ECHO.length}`).join('\n')}\n\n${ECHO}`,
    [400],
  ],
  ['a header without a colon', (token) => rawRequest(LINE, common(token, 'Nonsense'), ECHO), [400]],
  ['a header without a name', (token) => rawRequest(LINE, common(token, ': x'), ECHO), [400]],
  ['two Hosts', (token) => rawRequest(LINE, ['Host: localhost', ...common(token)], ECHO), [400, 401]],
  ['no Host', (token) => rawRequest(LINE, common(token).slice(1), ECHO), [400, 403]],
  ['two Authorizations', (token) => rawRequest(LINE, common(token, `Authorization: Bearer ${token}`), ECHO), [401]],
  [
    'two Authorizations in odd case',
    (token) => rawRequest(LINE, common(token, `aUTHORIZATION: Basic eDp4`), ECHO),
    [401],
  ],
  ['two Content-Types', (token) => rawRequest(LINE, common(token, 'Content-Type: text/plain'), ECHO), [401]],
  [
    'two Mcp-Session-Ids',
    (token) => rawRequest(LINE, common(token, 'Mcp-Session-Id: a', 'Mcp-Session-Id: b'), ECHO),
    [401],
  ],
  [
    'two Mcp-Names',
    (token) => rawRequest(LINE, common(token, 'Mcp-Name: u__echo', 'Mcp-Name: u__delete'), ECHO),
    [401],
  ],
  [
    '200 headers',
    (token) => rawRequest(LINE, common(token, ...Array.from({ length: 200 }, (_, i) => `X-${i}: a`)), ECHO),
    [431],
  ],
  [
    '2,001 headers',
    (token) => rawRequest(LINE, common(token, ...Array.from({ length: 2_001 }, () => `a: a`)), ECHO),
    [431],
  ],
  ['a header of 64 KB', (token) => rawRequest(LINE, common(token, `X-A: ${'a'.repeat(65_536)}`), ECHO), [431]],
  ['a header name of 64 KB', (token) => rawRequest(LINE, common(token, `${'a'.repeat(65_536)}: x`), ECHO), [431]],
  [
    'a path of 64 KB',
    (token) => rawRequest(`POST /mcp/${'a'.repeat(65_536)} HTTP/1.1`, common(token), ECHO),
    [414, 431],
  ],
  [
    'an absolute address of another',
    (token) => rawRequest('POST http://evil.example/mcp HTTP/1.1', common(token), ECHO),
    [400, 403, 404],
  ],
  [
    'an absolute address of ours under a foreign Host',
    (token) =>
      rawRequest('POST http://localhost/mcp HTTP/1.1', ['Host: evil.example', ...common(token).slice(1)], ECHO),
    [400, 403, 404],
  ],
  ['an address without a slash', (token) => rawRequest('POST mcp HTTP/1.1', common(token), ECHO), [400, 404]],
  ['the address *', (token) => rawRequest('OPTIONS * HTTP/1.1', common(token)), [400, 404, 405]],
  ['CONNECT', (token) => rawRequest('CONNECT evil.example:443 HTTP/1.1', common(token)), [0, 400, 404, 405]],
  ['TRACE', (token) => rawRequest('TRACE /mcp HTTP/1.1', common(token)), [400, 405]],
  ['an unknown method', (token) => rawRequest('DELETEALL /mcp HTTP/1.1', common(token), ECHO), [400, 405]],
  ['a method in small letters', (token) => rawRequest('post /mcp HTTP/1.1', common(token), ECHO), [400, 405]],
  ['HTTP/0.9', () => 'GET /mcp\r\n\r\n', [400, 403]],
  ['HTTP/2.0 as a version', (token) => rawRequest('POST /mcp HTTP/2.0', common(token), ECHO), [200, 400, 505]],
  ['the preface of HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400, 505]],
  [
    'an upgrade to a WebSocket',
    (token) =>
      rawRequest(
        'GET /mcp HTTP/1.1',
        common(
          token,
          'Connection: Upgrade',
          'Upgrade: websocket',
          'Sec-WebSocket-Version: 13',
          'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
        ),
      ),
    [0, 400, 405],
  ],
  [
    'an upgrade to h2c',
    (token) =>
      rawRequest(
        LINE,
        common(token, 'Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk'),
        ECHO,
      ),
    [0, 200, 400],
  ],
  ['TLS', () => Buffer.from([0x16, 0x03, 0x01, 0x00, 0x05, 0x01, 0x00, 0x00, 0x01, 0x03, 0x0d, 0x0a]), [400]],
  ['an expectation nobody knows', (token) => rawRequest(LINE, common(token, 'Expect: 200-maybe'), ECHO), [200, 417]],
  [
    'a connection header that names Authorization',
    (token) => rawRequest(LINE, common(token, 'Connection: authorization, keep-alive'), ECHO),
    [200],
  ],
]

export type Visit = readonly [how: string, host: string | undefined, origin: string | undefined, status: number]

/** Who may come in. The gateway is at 127.0.0.1, the operator listed `gate.example:8443` and two origins. */
export const visits: readonly Visit[] = [
  ['an ordinary client', '127.0.0.1:PORT', undefined, 200],
  ['localhost', 'localhost:PORT', undefined, 200],
  ['localhost without a port', 'localhost', undefined, 200],
  ['LOCALHOST in capitals', 'LOCALHOST:PORT', undefined, 200],
  ['IPv6 loopback', '[::1]:PORT', undefined, 200],
  ['the listed host', 'gate.example:8443', undefined, 200],
  ['the listed host behind another port', 'gate.example', undefined, 200],
  ['a listed origin', '127.0.0.1:PORT', 'https://app.example', 200],
  ['a listed origin with a port', '127.0.0.1:PORT', 'http://pages.example:3000', 200],
  ['its own origin', '127.0.0.1:PORT', 'http://127.0.0.1:PORT', 200],
  ['a foreign host without an origin', 'evil.example', undefined, 403],
  ['a foreign host with a listed origin', 'evil.example', 'https://app.example', 403],
  ['a host that begins with the allowed name', 'localhost.evil.example', undefined, 403],
  ['a host that ends with the allowed name', 'evil-localhost', undefined, 403],
  ['a host with the allowed name as a user', 'localhost@evil.example', undefined, 403],
  ['a host with a trailing dot', 'localhost.', undefined, 403],
  ['another loopback address', '127.0.0.2', undefined, 403],
  ['loopback in decimal', '2130706433', undefined, 403],
  ['an empty host', '', undefined, 403],
  ['a host with a path', 'localhost/evil', undefined, 403],
  ['a host with a blank', 'localhost evil', undefined, 403],
  ['a list of hosts', 'localhost, evil.example', undefined, 403],
  ['a port that is none', 'localhost:evil', undefined, 403],
  ['origin null', 'localhost', 'null', 403],
  ['an empty origin', 'localhost', '', 403],
  ['a foreign origin', 'localhost', 'https://evil.example', 403],
  ['an origin that ends with the allowed name', 'localhost', 'https://evilapp.example', 403],
  ['a subdomain of the allowed origin', 'localhost', 'https://evil.app.example', 403],
  ['an origin that begins with the allowed name', 'localhost', 'https://app.example.evil.test', 403],
  ['the allowed origin over http', 'localhost', 'http://app.example', 403],
  ['the allowed origin at another port', 'localhost', 'https://app.example:8443', 403],
  ['the allowed origin with a path', 'localhost', 'https://app.example/x', 403],
  ['the allowed origin with a user', 'localhost', 'https://app.example@evil.test', 403],
  ['the allowed name at another port of loopback', 'localhost', 'http://localhost:1', 403],
  ['a file', 'localhost', 'file://', 403],
  ['an extension', 'localhost', 'chrome-extension://abcdefghijklmnop', 403],
]
