/** Which loops `--controllers` means: `*` is all that are on by default, `name` adds one, `-name` leaves one out. */
import { closestMatch, UsageError } from '../base/flags.ts'
import type { ControlLoop } from './control-loop.ts'

/** Throws UsageError for a name that no loop has. */
export function chooseLoops(loops: readonly ControlLoop[], words: readonly string[]): ControlLoop[] {
  const known = loops.map(({ name }) => name)
  for (const word of words) checkWord(word, known)
  return loops.filter((loop) => isChosen(loop, words))
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

/** The first word that is about a loop counts. */
function isChosen({ name, onByDefault = true }: ControlLoop, words: readonly string[]): boolean {
  const own = words.find((word) => word === name || word === `-${name}`)
  return own === undefined ? onByDefault && words.includes('*') : own === name
}
