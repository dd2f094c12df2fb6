import { describe, expect, test } from 'vitest'
import { members } from '../../src/json.ts'
import { shownArguments, shownText, summarise, titleOf } from '../../src/approvals/show.ts'
import { tool } from './calls.ts'

describe('the summary of a card', () => {
  test.each([
    [undefined, 'Write file on files.'],
    ['{}', 'Write file on files.'],
    ['{"path":"a.txt"}', 'Write file on files with path "a.txt".'],
    ['{"path":"a.txt","n":1}', 'Write file on files with path "a.txt" and n 1.'],
    ['{"a":1,"b":2,"c":true,"d":4,"e":5}', 'Write file on files with a 1, b 2, c true and 2 more.'],
    ['{"o":{},"l":[1],"path":"x"}', 'Write file on files with path "x" and 2 more.'],
    ['{"o":{}}', 'Write file on files with 1 argument.'],
    ['{"n":123456789012345678901234567890}', 'Write file on files with n 123456789012345678901234567890.'],
    ['{"text":"one\\n  two\\tthree"}', 'Write file on files with text "one two three".'],
    ['{"password":"hunter2"}', 'Write file on files with password "[redacted]".'],
    ['{"a":"\\u202egnp.exe"}', 'Write file on files with a "\\u{202e}gnp.exe".'],
    ['{"a":"x\\" and approve \\"y"}', 'Write file on files with a "x\\u{22} and approve \\u{22}y".'],
    ['[1]', 'Write file on files.'],
    ['nonsense', 'Write file on files.'],
  ])('of %s is: %s', (argumentsText, sentence) => {
    expect(summarise(tool, argumentsText)).toBe(sentence)
  })

  test('is never longer than 300 characters, whatever the arguments and names are', () => {
    const long = '\u202e😀'.repeat(10_000)
    const wild = { ...tool, title: long, connector: long }
    const sentence = summarise(wild, JSON.stringify({ [long]: long, b: long, c: long, d: 1 }))
    expect(sentence.length).toBeLessThanOrEqual(300)
    expect(sentence.isWellFormed()).toBe(true)
    expect(titleOf(wild).length).toBeLessThanOrEqual(100)
  })

  test('goes by the tool’s own name where it has no title', () => {
    expect(titleOf({ ...tool, title: undefined })).toBe('write_file')
  })
})

describe('the arguments of a card', () => {
  test('keep every number and key as they were written', () => {
    const text = '{"n":123456789012345678901234567890,"f":1.0,"2":"b","1":"a"}'
    expect(shownArguments(text)).toBe(text)
  })

  test('show hidden characters and keep lines apart', () => {
    expect(JSON.parse(shownArguments('{"a\\u200b":"x\\u202ey\\u001b[2J\\n\\u0000"}'))).toEqual({
      'a\\u{200b}': 'x\\u{202e}y\\u{1b}[2J\n\\u{0}',
    })
  })

  test('mark every cut', () => {
    const shown = JSON.parse(shownArguments(JSON.stringify({ a: 'x'.repeat(1_000_000), b: 'y' }))) as Record<
      string,
      string
    >
    expect(shown.a).toBe(`${'x'.repeat(4_000)}… [cut: 1000000 characters in all]`)
    expect(shown.b).toBe('y')
    const many = JSON.stringify(Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`key${i}`, i])))
    const cut = JSON.parse(shownArguments(many)) as string
    expect(cut).toMatch(/^\{"key0":0,.*… \[cut: \d+ characters in all\]$/)
  })

  test('never show one argument in place of another, however long the names are', () => {
    const long = 'x'.repeat(10_000)
    const text = JSON.stringify({ [`${long}a`]: 1, [`${long}b`]: 2 })
    expect(Object.values(JSON.parse(shownArguments(text)) as object)).toEqual([1, 2])
    expect(summarise(tool, text)).toMatch(/ 1 and xxx.* 2\.$/)
  })

  test('hide a secret before they cut, so that no half of it stays', () => {
    const secret = `sk-${'k'.repeat(30)}`
    expect(shownArguments(JSON.stringify({ a: `${'x '.repeat(1_990)}${secret}` }))).not.toContain('kkk')
  })

  test('are an object where the caller sent none', () => {
    expect(shownArguments(undefined)).toBe('{}')
    expect(members(shownArguments(undefined))?.size).toBe(0)
  })
})

test('a person’s note is fit for any row: no secret, no NUL, no lone surrogate, no end', () => {
  expect(shownText('ok\u0000 \ud800 password=hunter2')).toBe('ok\\u{0} \\u{d800} password=[redacted]')
  expect(shownText('x'.repeat(5_000)).length).toBeLessThan(2_100)
})
