/** Flags whose value is a list of switches: `a=true,b=false,c`, where a name alone means true. */
import { readBoolean, UsageError } from '../../base/flags/flags.ts'

/** In the order given; a name that is given twice counts as the last says. */
export function readPairs(text: string): Map<string, boolean> {
  const pairs = new Map<string, boolean>()
  for (const item of text.split(',').map((part) => part.trim())) {
    if (item === '') continue
    const [name = '', value = 'true', ...rest] = item.split('=')
    if (name === '' || rest.length > 0)
      throw new UsageError(`${JSON.stringify(item)} is not a pair: use NAME=true or NAME=false`)
    pairs.set(name, readBoolean(value))
  }
  return pairs
}
