/**
 * Changes the links of an HTML page while it passes through: those to a path of its own server, which would lead the
 * browser to a path of ours. Everything else of the page passes byte by byte, so that no page is ever held back: what is
 * kept is one tag, up to a bound, and a longer tag passes as it is. What stands in comments and scripts is not looked at.
 */
import type { Readable } from 'node:stream'

/** Where a link leads instead; undefined where it stays as it is. */
export type ChangeLink = (link: string) => string | undefined

/** The attributes that hold links, by the name of the tag. */
const linkAttributes = new Map(
  Object.entries({
    a: 'href',
    applet: 'codebase',
    area: 'href',
    audio: 'src',
    base: 'href',
    blockquote: 'cite',
    body: 'background',
    button: 'formaction',
    del: 'cite',
    embed: 'src',
    form: 'action',
    frame: 'longdesc src',
    head: 'profile',
    html: 'manifest',
    iframe: 'longdesc src',
    img: 'longdesc src usemap',
    input: 'formaction src usemap',
    ins: 'cite',
    link: 'href',
    object: 'classid codebase data usemap',
    q: 'cite',
    script: 'src',
    source: 'src',
    video: 'poster src',
  }).map(([tag, names]) => [tag, new Set(names.split(' '))]),
)
/** What ends a stretch that is not looked at, and how much of that is still a part of it. */
interface End {
  readonly pattern: RegExp
  readonly longest: number
  readonly taken: number
}
const endOfComment: End = { pattern: /-->/, longest: 3, taken: 3 }
/** Tags up to whose end no other tag begins. */
const rawEnds = new Map<string, End>(
  ['script', 'style', 'textarea', 'title', 'xmp'].map((name) => [
    name,
    { pattern: new RegExp(`</${name}`, 'i'), longest: name.length + 2, taken: 0 },
  ]),
)
const maxTag = 8192

/** The page, in parts. Whoever stops reading it destroys the stream. */
export async function* withLinks(page: Readable, change: ChangeLink): AsyncGenerator<Buffer> {
  const reader = new PageReader(change)
  // Tags are ASCII in all forms of text that browsers read pages in but UTF-16, in which none is found.
  for await (const chunk of page) yield Buffer.from(reader.read(chunk.toString('latin1')), 'latin1')
  yield Buffer.from(reader.rest, 'latin1')
}

class PageReader {
  readonly #change: ChangeLink
  /** What has come and is not passed on yet. */
  #held = ''
  /** Of the stretch that is not looked at; undefined outside of one. */
  #until: End | undefined
  /** Of the tag that is held: how far it was looked at, and the quote that is open there. */
  #seen = 1
  #quote = ''

  constructor(change: ChangeLink) {
    this.#change = change
  }

  get rest(): string {
    return this.#held
  }

  /** Returns what can be passed on when this has come. */
  read(text: string): string {
    this.#held += text
    let passed = ''
    for (;;) {
      const part = this.#until === undefined ? this.#nextTag() : this.#skip(this.#until)
      if (part === undefined) return passed
      passed += part
    }
  }

  #take(length: number): string {
    const part = this.#held.slice(0, length)
    this.#held = this.#held.slice(length)
    return part
  }

  #skip({ pattern, longest, taken }: End): string | undefined {
    const end = this.#held.search(pattern)
    if (end >= 0) {
      this.#until = undefined
      return this.#take(end + taken)
    }
    const length = this.#held.length - longest + 1
    return length > 0 ? this.#take(length) : undefined
  }

  /** The text before a tag, or the tag; undefined where more has to come first. */
  #nextTag(): string | undefined {
    const start = this.#held.indexOf('<')
    if (start !== 0) return this.#held === '' ? undefined : this.#take(start < 0 ? this.#held.length : start)
    if (this.#held.length < '<!--'.length) return undefined
    if (this.#held.startsWith('<!--')) {
      this.#until = endOfComment
      return this.#take('<!--'.length)
    }
    return /[a-z]/i.test(this.#held[1]!) ? this.#tag() : this.#take(1)
  }

  #tag(): string | undefined {
    const end = this.#endOfTag()
    if (end === undefined && this.#held.length <= maxTag) return undefined
    this.#seen = 1
    this.#quote = ''
    if (end === undefined || end > maxTag) return this.#take(end ?? this.#held.length)
    const tag = this.#take(end)
    const name = /^<([^\s/>]+)/.exec(tag)![1]!.toLowerCase()
    this.#until = rawEnds.get(name)
    const attributes = linkAttributes.get(name)
    return attributes === undefined ? tag : changeTag(tag, attributes, this.#change)
  }

  #endOfTag(): number | undefined {
    for (; this.#seen < this.#held.length; this.#seen++) {
      const character = this.#held[this.#seen]!
      if (this.#quote !== '') {
        if (character === this.#quote) this.#quote = ''
      } else if (character === '"' || character === "'") this.#quote = character
      else if (character === '>') return this.#seen + 1
    }
    return undefined
  }
}

/** The name of an attribute, and its value with the quotes. A name begins only after what cannot be a part of one. */
const attribute = /(?<![^\s"'/])([^\s"'>/=]+)(\s*=\s*)("[^"]*"|'[^']*'|[^\s"'>]+)/g

function changeTag(tag: string, names: ReadonlySet<string>, change: ChangeLink): string {
  return tag.replace(attribute, (whole, name: string, equals: string, value: string) => {
    if (!names.has(name.toLowerCase())) return whole
    const quote = /^["']/.exec(value)?.[0] ?? ''
    const link = quote === '' ? value : value.slice(1, -1)
    const changed = change(link)
    return changed === undefined ? whole : `${name}${equals}${quote}${changed}${quote}`
  })
}
