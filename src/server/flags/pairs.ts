/** Flags whose value is a list of switches such as `a=true,b=false,c`. A name alone means true. */
import { readBoolean, UsageError } from '../../base/flags/flags.ts'

/** Returns the switches in the given order. If a name occurs twice, the last value applies. */
export function readPairs(text: string): Map<string, boolean> {
  const pairs = new Map<string, boolean>()
  for (const item of text.split(',').map((part) => part.trim())) {
    if (item === '') continue
    const [name = '', value = 'true', ...rest] = item.split('=')
    if (name === '' || rest.length > 0)
      throw new UsageError(`${JSON.stringify(item)} is not valid: use NAME=true or NAME=false`)
    pairs.set(name, readBoolean(value))
  }
  return pairs
}
