/** Splits a shell command line into words. Handles quotes, backslashes, variables and command separators. */
import { CommandMemoryError } from './command-memory.ts'

/**
 * A command. `after` is the operator that precedes it: `&&` and `||` make it depend on the exit code of the previous
 * command.
 */
export interface ShellCommand {
  readonly words: readonly Word[]
  readonly after: ';' | '&&' | '||'
}

/** A word of a command, split into literal parts and parts in which variables are expanded. */
export type Word = readonly { readonly text: string; readonly literal: boolean }[]

const maxLength = 64 * 1024
const token =
  /(\s*(?:&&|\|\||;|\n)\s*)|([ \t\r]+)|'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^\s'"\\;&|<>()`#]+)|(#[^\n]*)/sy

/** Splits a line into commands. Throws an Error if the line contains unsupported syntax, such as a pipe. */
export function splitCommands(line: string): ShellCommand[] {
  if (line.length > maxLength) throw new Error('the line is too long')
  const commands: ShellCommand[] = []
  let words: Word[] = []
  let word: { text: string; literal: boolean }[] | undefined
  let after: ShellCommand['after'] = ';'
  const endWord = () => {
    if (word !== undefined) words.push(word)
    word = undefined
  }
  for (let at = 0; at < line.length; at = token.lastIndex) {
    token.lastIndex = at
    const match = token.exec(line)
    if (match === null)
      throw new Error(
        `syntax error near ${JSON.stringify(line.slice(at, at + 10))}: this simulated shell has no pipes, redirections or jobs`,
      )
    const [, separator, blank, single, double, escaped, bare] = match
    if (separator !== undefined) {
      endWord()
      if (words.length > 0) commands.push({ words, after })
      words = []
      const mark = separator.trim()
      after = mark === '&&' || mark === '||' ? mark : ';'
    } else if (blank !== undefined) endWord()
    else if (match[7] === undefined) {
      word ??= []
      word.push(partOf({ single, double, escaped, bare }))
    }
  }
  endWord()
  if (words.length > 0) commands.push({ words, after })
  return commands
}

interface Found {
  readonly single: string | undefined
  readonly double: string | undefined
  readonly escaped: string | undefined
  readonly bare: string | undefined
}

function partOf({ single, double, escaped, bare }: Found): Word[number] {
  if (double !== undefined) return { text: double.replaceAll(/\\(["\\])/g, '$1'), literal: false }
  return bare === undefined ? { text: single ?? escaped ?? '', literal: true } : { text: bare, literal: false }
}

/** Maximum length in characters of a command after variable expansion. */
const maxExpandedLength = 256 * 1024

/** Returns the words of a command after expanding variables. Throws CommandMemoryError if the words are too long. */
export function expandWords(words: readonly Word[], lookUp: (name: string) => string): string[] {
  let length = 0
  const charge = (text: string) => {
    length += text.length
    if (length > maxExpandedLength)
      throw new CommandMemoryError(`argument list too long: a command exceeds ${maxExpandedLength} characters`)
    return text
  }
  const expand = (text: string) =>
    text.replaceAll(/\$(?:\{(\w+)\}|(\w+|\?))/g, (_, braced?: string, bare?: string) =>
      charge(lookUp((braced ?? bare)!)),
    )
  return words.map((word) => word.map(({ text, literal }) => (literal ? text : expand(charge(text)))).join(''))
}
