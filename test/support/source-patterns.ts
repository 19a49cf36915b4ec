/**
 * Finds the regular expressions in source files: literals by scanning the text, and expressions that a module builds
 * with `new RegExp` by loading the module. Scans TypeScript as formatted by Biome. JSX is compiled first, because text
 * in JSX is not quoted.
 */
import { readFileSync } from 'node:fs'
import { transformSync } from 'esbuild'

export interface SourcePattern {
  readonly file: string
  readonly source: string
  readonly flags: string
}

/** Tokens that end a value. A slash after such a token is a division. Any other slash starts a regular expression. */
const endsValue = /[\w$)\]}"'`]$/
const keywords = new Set(['return', 'typeof', 'case', 'in', 'of', 'yield', 'await', 'else', 'do', 'void', 'delete'])

export function literalsIn(file: string): SourcePattern[] {
  const text = readFileSync(file, 'utf8')
  return new Scanner(
    file,
    file.endsWith('.tsx') ? transformSync(text, { loader: 'tsx', jsx: 'automatic' }).code : text,
  ).scan()
}

class Scanner {
  readonly #file: string
  readonly #text: string
  readonly #found: SourcePattern[] = []
  #at = 0
  /** The last token that is neither white space nor a comment. */
  #last = ''

  constructor(file: string, text: string) {
    this.#file = file
    this.#text = text
  }

  scan(): SourcePattern[] {
    this.#code(0)
    return this.#found
  }

  /** Scans to the brace that closes a template part, or to the end. */
  #code(depth: number): void {
    for (let open = 0; this.#at < this.#text.length; ) {
      const char = this.#text[this.#at]!
      if (depth > 0 && char === '}' && open === 0) return
      if (char === '{') open++
      if (char === '}') open--
      this.#one(char, depth)
    }
  }

  #one(char: string, depth: number): void {
    const next = this.#text[this.#at + 1]
    if (char === '/' && next === '/') this.#skipTo('\n')
    else if (char === '/' && next === '*') this.#skipTo('*/', 2)
    else if (char === '"' || char === "'") this.#quoted(char)
    else if (char === '`') this.#template(depth)
    else if (char === '/' && this.#beginsPattern()) this.#pattern()
    else if (/[\w$]/.test(char)) this.#word()
    else {
      if (!/\s/.test(char)) this.#last = char
      this.#at++
    }
  }

  #beginsPattern(): boolean {
    return !endsValue.test(this.#last) || keywords.has(this.#last)
  }

  #word(): void {
    const [word] = /^[\w$]+/.exec(this.#text.slice(this.#at, this.#at + 200))!
    this.#last = word
    this.#at += word.length
  }

  #skipTo(end: string, from = 0): void {
    const at = this.#text.indexOf(end, this.#at + from)
    this.#at = at < 0 ? this.#text.length : at + end.length
  }

  #quoted(quote: string): void {
    for (this.#at++; this.#text[this.#at] !== quote; this.#at++) if (this.#text[this.#at] === '\\') this.#at++
    this.#at++
    this.#last = quote
  }

  #template(depth: number): void {
    for (this.#at++; this.#text[this.#at] !== '`'; this.#at++) {
      if (this.#text[this.#at] === '\\') this.#at++
      else if (this.#text.startsWith('${', this.#at)) {
        this.#at += 2
        this.#last = '{'
        this.#code(depth + 1)
      }
    }
    this.#at++
    this.#last = '`'
  }

  #pattern(): void {
    const start = ++this.#at
    for (let inClass = false; ; this.#at++) {
      const char = this.#text[this.#at]
      if (char === '\n' || char === undefined)
        throw new Error(`${this.#file}: cannot scan ${this.#text.slice(start - 40, start + 40)}`)
      if (char === '\\') this.#at++
      else if (char === '[') inClass = true
      else if (char === ']') inClass = false
      else if (char === '/' && !inClass) break
    }
    const source = this.#text.slice(start, this.#at)
    const [flags] = /^[a-z]*/.exec(this.#text.slice(this.#at + 1, this.#at + 12))!
    this.#at += 1 + flags.length
    this.#last = ')'
    this.#found.push({ file: this.#file, source, flags })
  }
}

/** Returns the regular expressions that a module creates while it is loaded. */
export async function builtIn(file: string): Promise<SourcePattern[]> {
  const found: SourcePattern[] = []
  const original = globalThis.RegExp
  globalThis.RegExp = new Proxy(original, {
    construct(target, args: [string, string?]) {
      const made = new target(...args)
      found.push({ file, source: made.source, flags: made.flags })
      return made
    },
  })
  try {
    await import(`${file}?patterns`)
  } finally {
    globalThis.RegExp = original
  }
  return found
}
