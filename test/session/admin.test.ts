import { expect, it } from 'vitest'
import { createAdmin } from '../../src/session/admin.ts'

const isAdmin = createAdmin('tg_admin_0123456789')

it.each(['Bearer tg_admin_0123456789', 'bearer tg_admin_0123456789', 'BEARER  tg_admin_0123456789'])(
  'the header %j carries the admin key',
  (header) => {
    expect(isAdmin(header)).toBe(true)
  },
)

it.each([
  undefined,
  '',
  'Bearer',
  'Bearer ',
  'tg_admin_0123456789',
  'Basic tg_admin_0123456789',
  'Bearer tg_admin_012345678',
  'Bearer tg_admin_01234567890',
  'Bearer TG_ADMIN_0123456789',
  'Bearer tg_admin_0123456789, Bearer x',
  'Bearer tg_admin_0123456789 x',
  `Bearer ${'x'.repeat(9000)}`,
])('the header %j does not', (header) => {
  expect(isAdmin(header)).toBe(false)
})

it('there is no check without a key', () => {
  expect(() => createAdmin(' ')).toThrow(/TOLLGATE_ADMIN_KEY/)
})
