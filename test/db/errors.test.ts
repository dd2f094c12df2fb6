/** What a driver throws is told apart: the database said no, or it could not be asked. */
import { expect, test } from 'vitest'
import { asDatabaseError, DatabaseRefused, DatabaseUnavailable, gaveUp } from '../../src/db/errors.ts'

const thrown = (more: object): Error => Object.assign(new Error('what the driver says'), more)

test.each(['23505', '42P01', '0A000', 'P0001', 'XX000'])('%s is an answer', (code) => {
  expect(asDatabaseError(thrown({ code, severity: 'ERROR' }))).toMatchObject({ name: 'DatabaseRefused', code })
})

test.each(['08006', '53300', '57014', '57P01', '57P03', '58000'])('%s says that the server cannot answer', (code) => {
  expect(asDatabaseError(thrown({ code, severity: 'FATAL' }))).toBeInstanceOf(DatabaseUnavailable)
})

test('a socket’s error is no answer, however its code is spelled', () => {
  for (const [code, errno] of [
    ['EPIPE', -32],
    ['ECONNRESET', -104],
    ['CONNECTION_CLOSED', 'CONNECTION_CLOSED'],
  ] as const) {
    expect(asDatabaseError(thrown({ code, errno, syscall: 'write' })), code).toBeInstanceOf(DatabaseUnavailable)
  }
})

test('only a statement that took too long leaves its connection as it was', () => {
  expect(gaveUp(thrown({ code: '57014' }))).toBe(true)
  for (const error of [thrown({ code: '57P01' }), thrown({}), undefined]) expect(gaveUp(error)).toBe(false)
})

test('an error that was told apart already stays as it is', () => {
  const refused = new DatabaseRefused('no', '23505', 'one_open_card')
  expect(asDatabaseError(refused)).toBe(refused)
})
