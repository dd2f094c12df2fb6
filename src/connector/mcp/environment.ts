/**
 * The environment a stdio upstream starts with: a short list of names every program needs, and what its entry gives it.
 * Never the gateway's own environment, which holds the database address and the secret.
 * @module
 */

/** The names the MCP SDKs pass on, so that what starts under another host starts here too. */
const POSIX = ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER']
const WINDOWS = [
  'APPDATA',
  'HOMEDRIVE',
  'HOMEPATH',
  'LOCALAPPDATA',
  'PATH',
  'PROCESSOR_ARCHITECTURE',
  'PROGRAMFILES',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'TEMP',
  'USERNAME',
  'USERPROFILE',
]

type Variables = Readonly<Record<string, string | undefined>>

/**
 * The base names as `host` has them, then exactly `own` (which may override them).
 * An exported shell function is left behind: its value is code that some shells run.
 */
export function childEnvironment(host: Variables, own: Variables, platform: NodeJS.Platform): Record<string, string> {
  const environment: Record<string, string> = {}
  for (const name of platform === 'win32' ? WINDOWS : POSIX) {
    const value = host[name]
    if (value !== undefined && !value.startsWith('()')) environment[name] = value
  }
  for (const [name, value] of Object.entries(own)) if (value !== undefined) environment[name] = value
  return environment
}

/** Blanks out the entry's own values in a text bound for the log; the ones under 6 characters would blank out words. */
export function withoutValues(own: Variables): (text: string) => string {
  const values = Object.values(own).filter((value): value is string => value !== undefined && value.length >= 6)
  values.sort((a, b) => b.length - a.length)
  return (text) => values.reduce((shown, value) => shown.replaceAll(value, '[redacted]'), text)
}
