/**
 * Which loops `--controllers` means: `*` is all that are on by default, `name` adds one, `-name` leaves one out. Where
 * there is no cluster, `*` leaves out the loops of one.
 */
import { closestMatch, UsageError } from '../../base/flags/flags.ts'
import type { ControlLoop } from './control-loop.ts'

/** Throws UsageError for a name that no loop has. `cluster`: whether `*` includes the loops of a whole cluster. */
export function chooseLoops(
  loops: readonly ControlLoop[],
  words: readonly string[],
  { cluster = true }: { readonly cluster?: boolean } = {},
): ControlLoop[] {
  const known = loops.map(({ name }) => name)
  for (const word of words) checkWord(word, known)
  return loops.filter((loop) => {
    const { onByDefault = true } = loop
    return isChosen(loop.name, words) ?? (words.includes('*') && onByDefault && (cluster || loop.cluster !== true))
  })
}

function checkWord(word: string, known: readonly string[]): void {
  const name = word.startsWith('-') ? word.slice(1) : word
  if (word === '*' || known.includes(name)) return
  const hint = closestMatch(name, known)
  const meant = hint === undefined ? '.' : `; did you mean ${hint}?`
  throw new UsageError(
    `--controllers: there is no control loop ${JSON.stringify(name)}${meant} There are: ${known.join(', ')}`,
  )
}

/** What the first word about a loop says; undefined where there is none. */
function isChosen(name: string, words: readonly string[]): boolean | undefined {
  const own = words.find((word) => word === name || word === `-${name}`)
  return own === undefined ? undefined : own === name
}
