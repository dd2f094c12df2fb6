/** Spellings of `u__delete_disks` that are not its name (reliability, appendix 2), by family. Data only. */

export const TOOL = 'delete_disks'
export const LISTED = `u__${TOOL}`
/** An upstream's name too long to go out as it is. */
export const LONG = `delete_everything_on_${'every_'.repeat(12)}disk`

const inside = (text: string): string => `u__delete${text}_disks`

/** Families of texts; each text is a name that a caller writes. */
export const SPELLINGS: Readonly<Record<string, readonly string[]>> = {
  case: ['U__DELETE_DISKS', 'u__Delete_Disks', 'U__delete_disks', 'u__delete_diskS'],
  blanks: [` ${LISTED}`, `${LISTED} `, inside(' '), `\t${LISTED}`, `${LISTED}\u00a0`, `${LISTED}\u2028`, `${LISTED}\n`],
  'zero-width characters': ['\u200d', '\u200c', '\u200b', '\ufeff', '\u00ad', '\ufe0f', '\u202e', '\u{e0041}'].map(
    inside,
  ),
  'other forms': [
    'u__d\u00e9lete_disks',
    'u__de\u0301lete_disks',
    'u__ｄｅｌｅｔｅ_disks',
    'u__delete＿disks',
    '𝐮__delete_disks',
    'ⓤ__delete_disks',
  ],
  lookalikes: [
    'u__dеlete_disks', // Cyrillic e
    'u__delete_dіsks', // Cyrillic i
    'υ__delete_disks', // Greek upsilon
    'u__delete_disκs', // Greek kappa
    'ս__delete_disks', // Armenian
    'u__delete_diſks', // long s
    'u__delete_dis\u212as', // Kelvin sign
    'u__delete_dısks', // dotless i
  ],
  escapes: [
    'u__delete%5Fdisks',
    'u__delete%255Fdisks',
    'u__delete\\u005fdisks',
    'u__delete&#95;disks',
    'u__delete&lowbar;disks',
  ],
  'a tail': ['.', '/', '\0', ',', '*', '?', '#', ';'].map((tail) => `${LISTED}${tail}`),
  separators: [
    'u____delete_disks',
    'u_delete_disks',
    'u.delete_disks',
    'u:delete_disks',
    'u\\delete_disks',
    '__u__delete_disks',
    'u__delete_disks__',
    'u__delete__disks',
    'u__delete-disks',
    'u__deletedisks',
  ],
  'the server part': [
    'other__delete_disks',
    'u-x__delete_disks',
    'u_x__delete_disks',
    '__delete_disks',
    'nobody__delete_disks',
    'delete_disks',
    'u__u__delete_disks',
    'u__other__delete_disks',
    '../u__delete_disks',
    '*__delete_disks',
    'u__*',
    '*',
    '',
  ],
  length: [
    `u__${LONG}`,
    `u__${LONG}`.slice(0, 64),
    `${LISTED}_x0123456789`,
    LISTED.padEnd(64, '_'),
    LISTED.padEnd(128, 's'),
    LISTED.padEnd(129, 's'),
    LISTED.padEnd(10_000, 's'),
  ],
  'names of objects': ['__proto__', 'constructor', 'toString', 'u__constructor', 'u____proto__', 'hasOwnProperty'],
}

/** What a name must not be instead of text. */
export const NO_TEXTS: readonly unknown[] = [[LISTED], { name: LISTED }, 1, null, true, [[LISTED]], {}]

/** What a host may write for it in a ceiling, besides the canonical name: `c__t` and `c/t`. */
export const WRITTEN = [`mcp__${LISTED}`, LISTED, `u/${TOOL}`]
