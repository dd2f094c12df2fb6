import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isSecretName, REDACTED, redactJson, redactText, visible } from '../../src/policy/redact.ts'

const CANARY = 'c4nary-7f3e9a51d2'

describe('names', () => {
  test.each([
    'password',
    'Password',
    'db_password',
    'passwd',
    'secret',
    'clientSecret',
    'client_secret',
    'apiKey',
    'api_key',
    'API-KEY',
    'x-api-key',
    'authorization',
    'Proxy-Authorization',
    'cookie',
    'Set-Cookie',
    'accessToken',
    'refresh_token',
    'token',
    'credentials',
    'privateKey',
    'passphrase',
    'pin',
    'otp',
    'auth',
    'AWS_SECRET_ACCESS_KEY',
    'pass\u200bword',
  ])('%s is the name of a secret', (name) => {
    expect(isSecretName(name)).toBe(true)
  })

  test.each(['path', 'author', 'key', 'keyboard', 'pass_count', 'spinner', 'title', 'authorName', 'compass', 'id', ''])(
    '%s is not',
    (name) => {
      expect(isSecretName(name)).toBe(false)
    },
  )
})

describe('text', () => {
  test.each([
    [`Authorization: Bearer ${CANARY}`],
    [`authorization: ${CANARY}`],
    [`Authorization: Token ${CANARY}`],
    [`{"Authorization":"Bearer ${CANARY}","a":1}`],
    [`{\\"authorization\\":\\"${CANARY}\\"}`],
    [`Cookie: a=1; session=${CANARY}`],
    [`connect ECONNREFUSED https://user:${CANARY}@db.example/x`],
    [`postgres://${CANARY}@db.example/x`],
    [`postgres://u:p@${CANARY}@db.example/x`],
    [`see https%3A%2F%2Fuser%3A${CANARY}%40db.example`],
    [`GET /v1?page=2&api_key=${CANARY}&x=1`],
    [`https://x.example/#access_token=${CANARY}`],
    [`password=${CANARY}`],
    [`password = '${CANARY} and blanks'`],
    [`password: "${CANARY} \\" and quotes"`],
    [`{ clientSecret: '${CANARY}' }`],
    [`{"a":{"api-key":"${CANARY}"}}`],
    [`Password=${CANARY};User=me`],
    [`token => ${CANARY}`],
    [`failed with bearer ${CANARY} at line 2`],
    [`-----BEGIN RSA PRIVATE KEY-----\n${CANARY}\n-----END RSA PRIVATE KEY----- after`],
    [`-----BEGIN PRIVATE KEY-----\n${CANARY} cut`],
  ])('hides the secret in %s', (text) => {
    const shown = redactText(text)
    expect(shown).not.toContain(CANARY)
    expect(shown).not.toContain(`${REDACTED}]`)
    expect(redactText(shown)).toBe(shown)
    expect(shown).toContain(REDACTED)
  })

  test.each([
    'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl',
    'sk-proj-abcdefghijklmnop1234',
    ['sk', 'live', 'abcdefghijklmnop1234'].join('_'),
    'ghp_abcdefghijklmnopqrstuvwxyz0123456789',
    'github_pat_11ABCDEFG0abcdefghijkl',
    'glpat-abcdefghij0123456789',
    'xoxb-1234567890-abcdefghij',
    'AKIAIOSFODNN7EXAMPLE',
    'AIzaSyA1234567890abcdefghijklmnopqrstuv',
    'fc-0123456789abcdef0123456789abcdef',
    'SG.abcdefghijklmnop.qrstuvwxyz',
  ])('knows the shape of %s wherever it stands', (key) => {
    expect(redactText(`before ${key} after`)).toBe(`before ${REDACTED} after`)
    expect(redactText(`x="${key}"`)).not.toContain(key)
  })

  test.each([
    'Upstream files did not answer within 60 s.',
    'read /home/me/report.txt: no such file',
    'https://example.com/a?page=2&sort=name',
    'max_tokens: 4096',
    'write a.txt, b.txt; done: 3 of 4',
    'the author: Ann',
    '',
  ])('leaves %s as it is', (text) => {
    expect(redactText(text)).toBe(text)
  })

  test.each([
    ['AKIAIOSFODNN7EXAMPLE', REDACTED],
    ['pin=12', `pin=${REDACTED}`],
    ['GET /?%zztoken=abcdef&x=1', `GET /?%zztoken=${REDACTED}&x=1`],
    ['GET /v1?page=2&api_key=abcdef&x=1', `GET /v1?page=2&api_key=${REDACTED}&x=1`],
    ['password="a token=b c" after', `password="${REDACTED}" after`],
    ['{ password: } and more text', '{ password: } and more text'],
    ['max_token: 4096 of them', 'max_token: 4096 of them'],
    ['token_secret: 4096 of them', `token_secret: ${REDACTED} of them`],
  ])('makes of %s exactly %s', (text, shown) => {
    expect(redactText(text)).toBe(shown)
  })

  test('keeps JSON that is redacted as text JSON', () => {
    const text = `{"authorization":"Bearer ${CANARY}","n":1,"password":"${CANARY}","list":["https://u:${CANARY}@h/"]}`
    expect(JSON.parse(redactText(text))).toEqual({
      authorization: REDACTED,
      n: 1,
      password: REDACTED,
      list: [`https://${REDACTED}@h/`],
    })
  })

  test.each([
    ['dots', 'a.'.repeat(200_000)],
    ['colons', 'a:'.repeat(200_000)],
    ['schemes', '://'.repeat(200_000)],
    ['backslashes', '\\'.repeat(400_000)],
    ['quotes', 'password="\\'.repeat(60_000)],
    ['key beginnings', '-----BEGIN PRIVATE KEY-----'.repeat(20_000)],
    ['query', '?token'.repeat(80_000)],
    ['words', 'a'.repeat(400_000)],
    ['encoded', '%3a%2f%2f'.repeat(50_000)],
    ['at', `://${'a@'.repeat(200_000)}`],
    ['blanks', `password${' '.repeat(400_000)}`],
    ['jwt', 'eyJ'.repeat(150_000)],
  ])('takes no more than its share of time over hostile %s', (_name, text) => {
    const started = process.cpuUsage()
    redactText(text)
    const { user } = process.cpuUsage(started)
    expect(user).toBeLessThan(2_000_000)
  })
})

describe('JSON', () => {
  test('is byte for byte the same where there is no secret', () => {
    const text =
      '{"n":123456789012345678901234567890,"f":1.0,"e":1E5,"2":"b","1":"\\u0061\\ud800\\u0000","o":{"a":[1,{}]}}'
    expect(redactJson(text)).toBe(text)
  })

  test('hides whatever stands under a secret name, at any depth', () => {
    const names = [
      'password',
      'apiKey',
      'API_KEY',
      'x-api-key',
      'Authorization',
      'cookie',
      'clientSecret',
      'token',
      'credential',
      'privateKey',
    ]
    for (const name of names) {
      const shapes = [
        { [name]: CANARY },
        { a: { b: [{ [name]: CANARY }] } },
        { [name]: { deep: [CANARY] } },
        { [name]: [CANARY] },
        { headers: [{ name, value: CANARY }] },
        { body: JSON.stringify({ [name]: CANARY }) },
        { body: JSON.stringify(JSON.stringify({ [name]: CANARY })) },
        { url: `https://h/?${name}=${CANARY}` },
      ]
      for (const shape of shapes) expect(redactJson(JSON.stringify(shape))).not.toContain(CANARY)
    }
  })

  test('hides numbers under secret names but not counts', () => {
    expect(redactJson('{"pin":1234,"max_tokens":4096,"token":null,"secret":false}')).toBe(
      `{"pin":"${REDACTED}","max_tokens":4096,"token":null,"secret":false}`,
    )
  })

  test.each([
    [
      '{"name":"Authorization","value":"x1","note":"seen"}',
      `{"name":"Authorization","value":"${REDACTED}","note":"seen"}`,
    ],
    ['{"key":"password","value":"x1"}', `{"key":"password","value":"${REDACTED}"}`],
    ['{"header":"cookie","value":"x1"}', `{"header":"cookie","value":"${REDACTED}"}`],
    ['{"name":"city","value":"Bern"}', '{"name":"city","value":"Bern"}'],
    ['{"name":["password"],"value":"x1"}', '{"name":["password"],"value":"x1"}'],
    ['{"name":7,"value":"x1"}', '{"name":7,"value":"x1"}'],
    ['{"value":"x1"}', '{"value":"x1"}'],
    ['{"name":"password"}', '{"name":"password"}'],
    ['{"secret":true,"password":"","pin":"true"}', `{"secret":true,"password":"","pin":"${REDACTED}"}`],
    ['{"token_secret":12,"max_token":12}', `{"token_secret":"${REDACTED}","max_token":12}`],
    [' {"a":1} ', '{"a":1}'],
  ])('makes of %s exactly %s', (text, shown) => {
    expect(redactJson(text)).toBe(shown)
  })

  test('shows nothing of what cannot be read', () => {
    for (const text of ['{"password": "x"', '', '{"a":1,"a":2}', `${'['.repeat(1e5)}${']'.repeat(1e5)}`]) {
      expect(redactJson(text)).toBe('"[unreadable]"')
    }
  })

  test('keeps keys apart that look alike once their secret is hidden', () => {
    const keys = Object.keys(JSON.parse(redactJson('{"token=abcdef":1,"token=ghijkl":2,"token=mnopqr":3}')) as object)
    expect(keys).toEqual(['token=[redacted]', 'token=[redacted] (2)', 'token=[redacted] (3)'])
    const taken = redactJson('{"token=abcdef":1,"token=[redacted] (2)":2,"token=ghijkl":3}')
    expect(Object.keys(JSON.parse(taken) as object)).toEqual(keys)
  })

  test('gives JSON for any JSON, equal but for what it hid', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const shown = JSON.parse(redactJson(text)) as unknown
        if (!JSON.stringify(shown).includes('[redacted]')) expect(shown).toEqual(JSON.parse(text))
      }),
    )
  })
})

describe('visible', () => {
  test.each([
    ['\u202e', '\\u{202e}'],
    ['\u200b', '\\u{200b}'],
    ['\u001b[2J', '\\u{1b}[2J'],
    ['\u0000', '\\u{0}'],
    ['\r', '\\u{d}'],
    ['\u009b', '\\u{9b}'],
    ['\u{e0041}', '\\u{e0041}'],
    ['\ufeff', '\\u{feff}'],
    ['\u2066', '\\u{2066}'],
    ['\u2028', '\\u{2028}'],
    ['\u3164', '\\u{3164}'],
    ['\ufe01', '\\u{fe01}'],
    ['\u{e0100}', '\\u{e0100}'],
    ['\u00ad', '\\u{ad}'],
    ['\ud800', '\\u{d800}'],
    ['\\u{202e}', '\\u{5c}u{202e}'],
  ])('%j is shown as %s', (hidden, shown) => {
    expect(visible(`a${hidden}b`)).toBe(`a${shown}b`)
  })

  test('leaves what people write as it is', () => {
    for (const text of ['Zoë paid 12 €\n\tto 日本, שלום 😀', 'C:\\users\\me']) expect(visible(text)).toBe(text)
  })

  test('never lets two texts look the same', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
        if (a !== b) expect(visible(a)).not.toBe(visible(b))
      }),
    )
  })
})
