/**
 * References between the variables of a container, as a kubelet expands them: `$(NAME)` is the value of a variable that
 * is defined before, and stays as it is where there is none; `$$` is `$`. Takes time in proportion to the text and to
 * the result, and stops where the result is longer than a variable may be.
 */
import { CommandMemoryError, maxVariableLength } from './command-memory.ts'

/** Throws CommandMemoryError for a result that is too long. */
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
      // An escaped `$`, or one that begins no reference.
      add('$')
      from = next === '$' ? at + 2 : at + 1
    }
  }
  add(text.slice(from))
  return parts.join('')
}
