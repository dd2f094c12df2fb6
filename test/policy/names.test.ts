import { describe, expect, it } from 'vitest'
import { canonical, covers, normalise, split } from '../../src/policy/names.ts'

const NAME = 'mcp__github__github_comment'

describe('what a person or host may write for a name', () => {
  it.each([
    ['the canonical form', NAME, NAME],
    ['connector__tool', 'github__github_comment', NAME],
    ['connector/tool', 'github/github_comment', NAME],
    ['a whole connector, canonical', 'mcp__firecrawl__*', 'mcp__firecrawl__*'],
    ['a whole connector, short', 'firecrawl__*', 'mcp__firecrawl__*'],
    ['a whole connector, with a slash', 'firecrawl/*', 'mcp__firecrawl__*'],
    ['a built-in', 'WebSearch', 'WebSearch'],
    ['a connector with a dash', 'my-server/do_it', 'mcp__my-server__do_it'],
    [
      'a connector with a single underscore',
      'sandbox_egress/sandbox_allow_host',
      'mcp__sandbox_egress__sandbox_allow_host',
    ],
    ['a tool with two underscores inside', 'a__b__c', 'mcp__a__b__c'],
    ['a connector called mcp', 'mcp/find', 'mcp__mcp__find'],
  ])('%s is accepted: %s', (_what, written, expected) => {
    expect(normalise(written)).toBe(expected)
  })

  it('normalising twice changes nothing', () => {
    for (const written of ['github/github_comment', 'firecrawl__*', 'Read']) {
      const once = normalise(written)!
      expect(normalise(once)).toBe(once)
    }
  })
})

/** Families of spellings of a forbidden name; none may come out as that name. */
const SPELLINGS: Record<string, string[]> = {
  case: [
    'MCP__github__github_comment',
    'mcp__GitHub__github_comment',
    'mcp__github__GITHUB_COMMENT',
    'Mcp__Github__Github_Comment',
  ],
  blanks: [
    ` ${NAME}`,
    `${NAME} `,
    'mcp__github__github comment',
    `${NAME}\t`,
    `${NAME}\u00a0`,
    `${NAME}\u2028`,
    `${NAME}\n`,
  ],
  'zero width': ['\u200d', '\u200c', '\u200b', '\ufeff', '\u00ad', '\ufe0f'].flatMap((mark) => [
    `${NAME}${mark}`,
    `mcp__git${mark}hub__github_comment`,
  ]),
  'compatibility forms': [
    'mcp__github__github_commënt',
    'mcp__github__github_comme\u0301nt',
    'mcp__ｇithub__github_comment',
    'mcp__ﬁ__x',
  ],
  lookalikes: ['с', 'о', 'е', 'ο', 'օ', 'ſ', 'K', 'ı'].map((letter) => `mcp__github__github_${letter}omment`),
  encodings: [
    'mcp%5F%5Fgithub__github_comment',
    'mcp%255F_github__github_comment',
    'mcp\\u005f_github__github_comment',
    'mcp&#95;_github__github_comment',
    'github%2Fgithub_comment',
  ],
  endings: ['.', '/', '\0', ',', '*', '?'].map((mark) => `${NAME}${mark}`),
  separators: [
    'mcp____github__github_comment',
    'mcp__github____github_comment',
    'mcp_github_github_comment',
    'mcp__github_github_comment',
    'mcp--github--github_comment',
    'mcp.github.github_comment',
    '__mcp__github__github_comment',
    `${NAME}__`,
    'mcp__github',
    'mcp__',
    'mcp__mcp__github__github_comment',
    'github//github_comment',
    '/github/github_comment',
    'mcp/github/github_comment',
    'mcp__github/github_comment',
    'github:github_comment',
  ],
  'server part': [
    'mcp__gitlab__github_comment',
    'mcp__git__hub__github_comment',
    'mcp____github_comment',
    'mcp__nobody__github_comment',
    'git__github_comment',
    'mcp__github_comment',
  ],
  lengths: [
    NAME.slice(0, 20),
    `${NAME}_a1b2c3`,
    `${NAME}${'x'.repeat(101)}`,
    `${NAME}${'x'.repeat(102)}`,
    `${NAME}${'x'.repeat(9_973)}`,
  ],
  'bare tool': [
    'github_comment',
    'comment',
    '',
    '*',
    'mcp__*',
    'mcp__*__github_comment',
    'mcp__github__github_*',
    'mcp__git*__github_comment',
    '*/*',
  ],
}

describe('no other spelling of a name comes out as that name', () => {
  for (const [family, spellings] of Object.entries(SPELLINGS)) {
    it.each(spellings.map((text) => [JSON.stringify(text.slice(0, 60)), text]))(`${family}: %s`, (_shown, text) => {
      const name = normalise(text)
      expect(name).not.toBe(NAME)
      if (name !== undefined) expect(covers(name, NAME)).toBe(false)
    })
  }

  it.each([
    ['a tool without its connector', 'github_comment'],
    ['nothing', ''],
    ['a star', '*'],
    ['a canonical name without its tool', 'mcp__github'],
    ['a canonical name without both', 'mcp__'],
    ['a canonical name with an empty tool', 'mcp__github__'],
    ['a built-in behind a small letter', 'xRead'],
    ['a built-in behind a blank', ' Read'],
    ['a built-in behind a digit', '1Read'],
    ['a built-in before a blank', 'Read '],
    ['a built-in before a digit', 'Read2'],
    ['a built-in with a pattern', 'Read(*)'],
    ['a tool that begins with a stop', 'github/.comment'],
    ['a tool that ends with a stop', 'github/comment.'],
    ['a connector that begins with a stop', '.github/comment'],
    ['a connector that ends with a stop', 'github./comment'],
    ['an empty connector', '/github_comment'],
    ['an empty connector before a full name', '/github__github_comment'],
    ['an empty tool', 'github/'],
  ])('%s is no name', (_what, text) => {
    expect(normalise(text)).toBeUndefined()
  })

  it('a connector that is spelt like a built-in is a connector', () => {
    expect(normalise('Read/file')).toBe('mcp__Read__file')
    expect(normalise('Read__file')).toBe('mcp__Read__file')
  })

  it('a connector part that holds the separator is no connector', () => {
    expect(normalise('a__b/c')).toBeUndefined()
    expect(normalise('a_/c')).toBeUndefined()
    expect(normalise('_a/c')).toBeUndefined()
  })
})

describe('splitting', () => {
  it.each([
    [NAME, { connector: 'github', tool: 'github_comment' }],
    ['mcp__a__b__c', { connector: 'a', tool: 'b__c' }],
    ['mcp__a___b', { connector: 'a', tool: '_b' }],
    ['mcp__firecrawl__*', { connector: 'firecrawl', tool: '*' }],
    ['Read', undefined],
    ['mcp__a', undefined],
    ['mcp__github', undefined],
    ['mcp__github_comment', undefined],
    ['xxxxxgithub__github_comment', undefined],
    ['MCP__github__github_comment', undefined],
    ['', undefined],
    ['mcp__a__', undefined],
    ['mcp____b', undefined],
    ['mcp__a__b*', undefined],
    ['mcp__*__b', undefined],
    ['mcp__a__.b', undefined],
    ['mcp__a__b.', undefined],
    ['mcp__.a__b', undefined],
    ['mcp__a.__b', undefined],
  ])('%s', (name, parts) => {
    expect(split(name)).toEqual(parts)
  })

  it('is the other way round of joining', () => {
    for (const [connector, tool] of [
      ['a', 'b'],
      ['a-b', 'c__d'],
      ['a_b', '_c'],
      ['a', '-'],
    ] as const) {
      expect(split(canonical(connector, tool))).toEqual({ connector, tool })
    }
  })
})

describe('covering', () => {
  it.each([
    ['a name covers itself', NAME, NAME, true],
    ['a name covers no other', NAME, 'mcp__github__github_commit_files', false],
    ['a name covers none that begins like it', NAME, `${NAME}s`, false],
    ['a whole connector covers its tools', 'mcp__github__*', NAME, true],
    ['a whole connector covers a tool with the separator in it', 'mcp__a__*', 'mcp__a__b__c', true],
    ['a whole connector covers no tool of one whose name begins like it', 'mcp__git__*', NAME, false],
    ['a whole connector covers no built-in', 'mcp__github__*', 'Read', false],
    ['a built-in covers itself', 'Read', 'Read', true],
    ['a built-in covers no other case', 'Read', 'read', false],
    ['half a tool part with a star covers nothing', 'mcp__github__github_*', NAME, false],
    ['a tool part that ends in a star covers nothing', 'mcp__a__b__*', 'mcp__a__b__c', false],
    ['a star alone covers nothing', '*', NAME, false],
    ['a star for the connector covers nothing', 'mcp__*', NAME, false],
    ['a pattern that is not canonical covers nothing', 'x__*', 'x__y', false],
  ])('%s', (_what, pattern, name, expected) => {
    expect(covers(pattern, name)).toBe(expected)
  })
})
