/** Lists of pairs on the command line: `cpu=1,memory=1Gi`. */
import { UsageError } from '../base/flags.ts'
import { LabelMatcher, parseLabelSelector } from '../model/label-selector.ts'

/** `form` is what one pair should look like, for the message. */
export function readPairs(text: string, flagName: string, form = 'KEY=VALUE'): { [key: string]: string } {
  const pairs = text.split(',').map((pair) => {
    const equals = pair.indexOf('=')
    if (equals <= 0) throw new UsageError(`${flagName}: ${JSON.stringify(pair)} is not ${form}`)
    return [pair.slice(0, equals), pair.slice(equals + 1)]
  })
  return Object.fromEntries(pairs)
}

/** A variable of a container or a program: `NAME=VALUE`. */
export function readVariable(pair: string, flagName: string): { name: string; value: string } {
  const equals = pair.indexOf('=')
  if (equals <= 0) throw new UsageError(`${flagName}: ${JSON.stringify(pair)} is not NAME=VALUE`)
  return { name: pair.slice(0, equals), value: pair.slice(equals + 1) }
}

/** A selector that says only what `matchLabels` can say. */
export function readSelectorLabels(selector: string, flagName = '--selector'): { [key: string]: string } {
  const pairs = readPairs(selector, flagName)
  if (!new LabelMatcher(parseLabelSelector(selector)).matches(pairs))
    throw new UsageError(`${flagName}: only KEY=VALUE is taken: ${selector}`)
  return pairs
}
