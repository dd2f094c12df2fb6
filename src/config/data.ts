/**
 * A YAML or JSON text read into data that remembers its lines.
 * What is said about a broken text never quotes it: a configuration file holds secrets.
 * @module
 */
import { isMap, isNode, isPair, isScalar, isSeq, LineCounter, parseDocument } from 'yaml'
import type { DataFile } from '../policy/data-file.ts'

/** Mending words for what the parser reports most; its own messages can quote the text. */
const MENDING: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: 'the same key stands twice in one object; keep one.',
  TAB_AS_INDENT: 'a tab is used to indent; use spaces.',
  BAD_INDENT: 'the indent does not fit the lines around it.',
  MISSING_CHAR: 'a quote, bracket, comma or colon is missing.',
  MULTILINE_IMPLICIT_KEY: 'a key runs over several lines; a quote or colon may be missing.',
  UNEXPECTED_TOKEN: 'something stands here that does not belong; a quote may be missing.',
}

/** Reads YAML (and so JSON) text; `file` is how messages call it. */
export function readText(
  text: string,
  file: string,
): { readonly ok: true; readonly data: DataFile } | { readonly ok: false; readonly problems: string[] } {
  const lines = new LineCounter()
  const document = parseDocument(text.replace(/^\uFEFF/, ''), {
    lineCounter: lines,
    prettyErrors: false,
    logLevel: 'silent',
  })
  if (document.errors.length > 0) {
    return {
      ok: false,
      problems: document.errors.map(
        ({ code, pos }) =>
          `${file}:${lines.linePos(pos[0]).line}: ${MENDING[code] ?? 'this is not YAML or JSON that can be read.'}`,
      ),
    }
  }
  try {
    const value: unknown = document.toJS({ maxAliasCount: 100 })
    return { ok: true, data: { file, value, lineOf: (path) => lineOf(document.contents, path, lines) } }
  } catch {
    return {
      ok: false,
      problems: [`${file}: an alias (*name) points at nothing or repeats too much; write the value out.`],
    }
  }
}

/** The line of the deepest part of the path that exists; the key's own line where it is a key. */
function lineOf(root: unknown, path: readonly PropertyKey[], lines: LineCounter): number | undefined {
  let at = isNode(root) ? root.range?.[0] : undefined
  let node: unknown = root
  for (const part of path) {
    if (isMap(node)) {
      const pair = node.items.find((item) => isPair(item) && isScalar(item.key) && item.key.value === part)
      if (pair === undefined || !isScalar(pair.key)) break
      at = pair.key.range?.[0] ?? at
      node = pair.value
    } else if (isSeq(node) && typeof part === 'number') {
      node = node.items[part]
      if (!isNode(node)) break
      at = node.range?.[0] ?? at
    } else break
  }
  return at === undefined ? undefined : lines.linePos(at).line
}
