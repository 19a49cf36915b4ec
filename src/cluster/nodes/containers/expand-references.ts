/**
 * Expands references between the variables of a container, as a kubelet does. `$(NAME)` is replaced by the value of an
 * earlier variable, and remains unchanged if no such variable exists. `$$` becomes `$`. The time is proportional to the
 * lengths of the text and the result. Expansion stops when the result exceeds the maximum length of a variable.
 */
import { CommandMemoryError, maxVariableLength } from './command-memory.ts'

/** Expands the references in a text. Throws CommandMemoryError if the result is too long. */
export function expandReferences(text: string, lookUp: (name: string) => string | undefined): string {
  const parts: string[] = []
  let length = 0
  const add = (part: string) => {
    length += part.length
    if (length > maxVariableLength)
      throw new CommandMemoryError(`argument list too long: a variable exceeds ${maxVariableLength} characters`)
    parts.push(part)
  }
  const lastCloser = text.lastIndexOf(')')
  let from = 0
  for (let at = text.indexOf('$'); at >= 0; at = text.indexOf('$', from)) {
    add(text.slice(from, at))
    const next = text[at + 1]
    if (next === '(' && at < lastCloser) {
      const closer = text.indexOf(')', at)
      const name = text.slice(at + 2, closer)
      add(lookUp(name) ?? `$(${name})`)
      from = closer + 1
    } else {
      // Add a literal `$`: either an escaped `$`, or a `$` that does not start a reference.
      add('$')
      from = next === '$' ? at + 2 : at + 1
    }
  }
  add(text.slice(from))
  return parts.join('')
}
