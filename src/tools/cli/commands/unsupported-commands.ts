/**
 * kubectl commands that orchctl does not implement. For these commands, orchctl prints a clear message instead of a
 * spelling hint.
 */
const names = new Set(['alpha', 'certificate csr'])

/** Whether the words are a kubectl command that orchctl does not implement, such as `certificate csr`. */
export function isNotBuilt(words: string): boolean {
  return names.has(words)
}
