/** Compares the output of a command with the output that a page shows. */

/**
 * Values that differ between runs, and their placeholders. The values in both outputs are replaced before the
 * comparison.
 */
const varying: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '<uid>'],
  [/\b[0-9a-f]{64}\b/g, '<hash>'],
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z| UTC)/g, '<time>'],
  [/\b\d+ seconds? ago/g, '<time> ago'],
  // Names of pods, with and without the hash of a ReplicaSet.
  [/-[0-9a-z]{8,10}-[0-9a-z]{5}\b/g, '-<pod>'],
  [/\b(?:\d+d)?(?:\d+h)?(?:\d+m)?\d+(?:\.\d+)?[smhd]\b/g, '<age>'],
  [/\b\d+(?:\.\d+)? [KMG]?i?B\b/g, '<size>'],
  [/\b\d+ (entries|objects|values|bytes|were)\b/g, '<number> $1'],
  [/\brevision \d+/g, 'revision <number>'],
  [/^\d+(?= {2})/gm, '<number>'],
  [/ {2,}|\t/g, '  '],
  [/ +$/gm, ''],
]

/** Returns whether the page shows this output. */
export function isShown(shown: string, output: string): boolean {
  return patternOf(shown, '$').test(masked(output))
}

/** Returns whether the output starts with the output that a page shows. */
export function hasStarted(shown: string, output: string): boolean {
  return patternOf(shown, '').test(masked(output))
}

function patternOf(shown: string, end: string): RegExp {
  const lines = masked(shown).trimEnd().split('\n')
  return new RegExp(
    `^${lines.map((line) => (line === '...' ? '(?:.*\\n)*?' : `${linePattern(line)}\\n`)).join('')}${end}`,
  )
}

function linePattern(line: string): string {
  return line
    .split('…')
    .map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
    .join('.*')
}

function masked(text: string): string {
  const lines = `${text.trimEnd()}\n`
  return varying.reduce((result, [pattern, mask]) => result.replaceAll(pattern, mask), lines)
}
