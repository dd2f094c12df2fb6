import { expect, test } from 'vitest'
import { createSeal, Unsealable } from '../../src/db/seal.ts'

const secret = 'a secret of more than 16 characters'

test('sealed text opens with the same secret, and no two seals of a text are alike', async () => {
  const text = 'key with \u0000, \u{1f511} and "quotes"'
  const sealed = await createSeal(secret).seal(text)
  expect(await createSeal(secret).open(sealed)).toBe(text)
  expect(await createSeal(secret).seal(text)).not.toBe(sealed)
  expect(Buffer.from(sealed.split('.')[3]!, 'base64url').toString()).not.toContain('key')
})

test('another secret is told apart from damage', async () => {
  const sealed = await createSeal(secret).seal('text')
  await expect(createSeal(`${secret}.`).open(sealed)).rejects.toThrow('another TOLLGATE_SECRET')
  await expect(createSeal(secret).open('hello')).rejects.toThrow(Unsealable)
})

test('a change of any one character is refused', async () => {
  const { seal, open } = createSeal(secret)
  const sealed = await seal('text')
  for (let i = 0; i < sealed.length; i++) {
    // The last character of a part may carry bits that mean nothing; a change there can be the same text.
    if (sealed[i] === '.' || sealed[i + 1] === '.' || i === sealed.length - 1) continue
    const changed = `${sealed.slice(0, i)}${sealed[i] === 'A' ? 'B' : 'A'}${sealed.slice(i + 1)}`
    await expect(open(changed), `character ${i}`).rejects.toThrow(Unsealable)
  }
})

test('a secret too short to protect anything is refused', () => {
  expect(() => createSeal('short')).toThrow('TOLLGATE_SECRET is too short')
})
