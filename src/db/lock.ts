/**
 * One process per data folder. The lock is a name the kernel holds for the process, so it is free the moment the process
 * is gone, however it went: an abstract unix socket on Linux, a pipe on Windows, a socket file elsewhere.
 * (An abstract name is seen within one network namespace: containers must not share a data folder.)
 * @module
 */
import { createHash } from 'node:crypto'
import { realpathSync, rmSync } from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'

/** The folder is in use; the message says by whom and what to do. */
export class FolderInUse extends Error {
  override name = 'FolderInUse'
}

/** Takes the folder, which must exist, for this process. Throws FolderInUse. The result gives it back. */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const real = realpathSync(folder)
  const address = lockAddress(createHash('sha256').update(real).digest('hex').slice(0, 32))
  const server =
    (await hold(address)) ?? (await clearStale(address, real)) ?? (await refuse(real, await holderOf(address)))
  return () => new Promise<void>((resolve) => server.close(() => resolve()))
}

function lockAddress(name: string): string {
  if (process.platform === 'linux') return `\0tollgate-${name}`
  if (process.platform === 'win32') return `\\\\.\\pipe\\tollgate-${name}`
  return path.join(os.tmpdir(), `tollgate-${name}.lock`)
}

/** Undefined when somebody else holds the address. Whoever connects is told this process's id. */
function hold(address: string): Promise<net.Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = net.createServer((caller) => {
      caller.on('error', () => {})
      caller.end(String(process.pid))
    })
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error),
    )
    server.listen(address, () => resolve(server.unref()))
  })
}

/** A socket file outlives a killed process: with nobody behind it, it is taken over. */
async function clearStale(address: string, folder: string): Promise<net.Server | undefined> {
  if (process.platform === 'linux' || process.platform === 'win32') return undefined
  const holder = await holderOf(address)
  if (holder !== undefined) return refuse(folder, holder)
  rmSync(address, { force: true })
  return hold(address)
}

/** The id of the process that answers there; '' when it does not say; undefined when nobody is there. */
function holderOf(address: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    let said = ''
    const socket = net.connect(address)
    socket.setTimeout(500, () => socket.destroy())
    socket.on('data', (chunk) => {
      said += chunk
    })
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED' ? undefined : ''))
    socket.on('close', () => resolve(said))
  })
}

function refuse(folder: string, holder: string | undefined): never {
  const who = holder ? `Process ${holder}` : 'Another process'
  throw new FolderInUse(
    `${who} already uses the database in ${folder}. Stop it, give TOLLGATE_DATA another folder, or set DATABASE_URL so that both share one PostgreSQL.`,
  )
}
