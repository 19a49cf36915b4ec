/** The words of a shell's line: quotes, backslashes, variables, and what separates commands. */

/** A command, and how it depends on the one before. */
export interface ShellCommand {
  readonly words: readonly Word[]
  readonly after: ';' | '&&' | '||'
}

/** A word in parts; variables stand in those that are not literal. */
export type Word = readonly { readonly text: string; readonly literal: boolean }[]

const maxLength = 64 * 1024
const token =
  /(\s*(?:&&|\|\||;|\n)\s*)|([ \t\r]+)|'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^\s'"\\;&|<>()`#]+)|(#[^\n]*)/sy

/** Throws an Error for what this shell does not know, such as pipes. */
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

/** The text of a word with the values of its variables. */
export function expandWord(word: Word, lookUp: (name: string) => string): string {
  const expand = (text: string) =>
    text.replaceAll(/\$(?:\{(\w+)\}|(\w+|\?))/g, (_, braced?: string, bare?: string) => lookUp((braced ?? bare)!))
  return word.map(({ text, literal }) => (literal ? text : expand(text))).join('')
}
