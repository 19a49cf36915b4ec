/**
 * Parses the types and names on a command line: `TYPE[,TYPE] [NAME...]` or `TYPE/NAME...`. Parsing needs no server, so
 * syntax errors are reported before the types are looked up.
 */
import { UsageError } from '../../../base/flags/flags.ts'
import type { DiscoveredType } from '../../../client/requests/discovery.ts'
import type { ServedTypes } from '../connection/served-types.ts'

/** A type and an optional name on the command line. Without a name, the target is all objects of the type. */
export interface TargetWord {
  readonly type: string
  readonly name: string | undefined
}

export interface Target {
  readonly type: DiscoveredType
  readonly name: string | undefined
  /** Namespace of the target, if it differs from the command's namespace. */
  readonly namespace?: string | undefined
}

/** Parses the words after `get`: types, or objects by type and name. Throws UsageError. */
export function readTargetWords(words: readonly string[]): TargetWord[] {
  if (words.some((word) => word.includes('/'))) return words.map((word) => readPair(word, words))
  const [types = '', ...names] = words
  if (types === '') throw new UsageError('you must specify the type of resource: see `orchctl api-resources`')
  if (names.includes('')) throw new UsageError('resource name may not be empty')
  return types.split(',').flatMap((type) => (names.length === 0 ? [undefined] : names).map((name) => ({ type, name })))
}

function readPair(word: string, words: readonly string[]): TargetWord {
  if (!word.includes('/'))
    throw new UsageError(
      `${JSON.stringify(word)} cannot be combined with ${JSON.stringify(words.find((w) => w !== word))}: use TYPE NAME... or TYPE/NAME...`,
    )
  const [type = '', name = '', ...more] = word.split('/')
  if (type === '' || name === '' || type.includes(',') || more.length > 0)
    throw new UsageError('arguments in resource/name form must have a single resource and name')
  return { type, name }
}

/** Looks up the types of the targets. If a type is listed twice without names, the duplicate is dropped. */
export async function findTargets(served: ServedTypes, targetWords: readonly TargetWord[]): Promise<Target[]> {
  const targets: Target[] = []
  for (const { type: word, name } of targetWords)
    for (const type of await served.namedAll(word)) targets.push({ type, name })
  return targets.filter(
    ({ type, name }, i) => name !== undefined || targets.findIndex((other) => other.type === type) === i,
  )
}
