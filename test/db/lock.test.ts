import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { connect } from '../../src/db/connect.ts'
import { FolderInUse, lockFolder } from '../../src/db/lock.ts'
import { quiet } from '../support/database.ts'

let home: string
beforeEach(() => {
  home = mkdtempSync(path.join(os.tmpdir(), 'tollgate-lock-'))
})
afterEach(() => rmSync(home, { recursive: true }))

test('a folder is taken by one process, under any of its names, and is free once given back', async () => {
  const release = await lockFolder(home)
  await expect(lockFolder(home)).rejects.toThrow(`Process ${process.pid} already uses the database in ${home}`)
  const alias = `${home}-alias`
  symlinkSync(home, alias)
  await expect(lockFolder(alias)).rejects.toThrow(FolderInUse)
  rmSync(alias)
  await release()
  await (await lockFolder(home))()
})

test('a second process cannot open the database of a running one, and can as soon as that one was killed', async () => {
  const connectModule = JSON.stringify(path.resolve('src/db/connect.ts'))
  const program = `
    const { connect } = await import(${connectModule})
    const db = await connect({ folder: process.argv[1], log: console })
    await db.orm.execute('create table marks (mark text)')
    await db.orm.execute("insert into marks values ('kept')")
    console.log('open')
    setInterval(() => {}, 1000)`
  const other = spawn(process.execPath, ['--input-type=module', '-e', program, home], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    await once(other.stdout, 'data')
    await expect(connect({ folder: home, log: quiet })).rejects.toThrow(
      `Process ${other.pid} already uses the database`,
    )
  } finally {
    other.kill('SIGKILL')
    await once(other, 'exit')
  }
  const db = await connect({ folder: home, log: quiet })
  expect(await db.orm.execute('select mark from marks')).toEqual([{ mark: 'kept' }])
  await db.close()
}, 60_000)
