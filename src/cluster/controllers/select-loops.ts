/**
 * Selects the loops to run from the `--controllers` flag: `*` selects all loops that are on by default, `name` adds a
 * loop, and `-name` excludes a loop. Without a cluster, `*` excludes the cluster loops.
 */
import { closestMatch, UsageError } from '../../base/flags/flags.ts'
import type { ControlLoop } from './control-loop.ts'

/**
 * Returns the names of the selected loops. Throws UsageError for an unknown name. `cluster` specifies whether `*`
 * includes the cluster loops.
 */
export function selectLoops(
  loops: readonly ControlLoop[],
  words: readonly string[],
  { cluster = true }: { readonly cluster?: boolean } = {},
): ControlLoop[] {
  const loopNames = loops.map(({ name }) => name)
  for (const word of words) checkWord(word, loopNames)
  return loops.filter((loop) => {
    const { onByDefault = true } = loop
    return isChosen(loop.name, words) ?? (words.includes('*') && onByDefault && (cluster || loop.cluster !== true))
  })
}

function checkWord(word: string, loopNames: readonly string[]): void {
  const name = word.startsWith('-') ? word.slice(1) : word
  if (word === '*' || loopNames.includes(name)) return
  const hint = closestMatch(name, loopNames)
  const suggestion = hint === undefined ? '.' : `; did you mean ${hint}?`
  throw new UsageError(
    `--controllers: unknown control loop ${JSON.stringify(name)}${suggestion} Known loops are: ${loopNames.join(', ')}`,
  )
}

/** Whether the first flag value that refers to the loop includes it. Undefined if no value refers to the loop. */
function isChosen(name: string, words: readonly string[]): boolean | undefined {
  const own = words.find((word) => word === name || word === `-${name}`)
  return own === undefined ? undefined : own === name
}
