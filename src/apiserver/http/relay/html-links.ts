/**
 * Rewrites the links in a proxied HTML page while streaming it. Without rewriting, a link to `/path` on the backend
 * would lead the browser to `/path` on this server. All other bytes pass unchanged. At most one tag is buffered. Tags
 * that exceed a size limit pass unchanged. Comments and scripts are not searched for links.
 */
import type { Readable } from 'node:stream'

/** Returns the rewritten link, or undefined if the link stays unchanged. */
export type ChangeLink = (link: string) => string | undefined

/** The attribute that contains a link, for each tag that has one. */
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
/**
 * Describes the end of a section without links, such as a comment or script. `consumedLength` is the length of the
 * matched text that still belongs to the section.
 */
interface End {
  readonly pattern: RegExp
  readonly maxLength: number
  readonly consumedLength: number
}
const endOfComment: End = { pattern: /-->/, maxLength: 3, consumedLength: 3 }
/** Elements whose content cannot contain tags, with their end tags. */
const rawEnds = new Map<string, End>(
  ['script', 'style', 'textarea', 'title', 'xmp'].map((name) => [
    name,
    { pattern: new RegExp(`</${name}`, 'i'), maxLength: name.length + 2, consumedLength: 0 },
  ]),
)
const maxTag = 8192

/** Yields the rewritten page in parts. A caller that stops reading must destroy the stream. */
export async function* withLinks(page: Readable, change: ChangeLink): AsyncGenerator<Buffer> {
  const reader = new PageReader(change)
  // Of the encodings that browsers support, UTF-16 is the only one in which tags are not ASCII. Links in UTF-16 pages
  // are not rewritten.
  for await (const chunk of page) yield Buffer.from(reader.read(chunk.toString('latin1')), 'latin1')
  yield Buffer.from(reader.rest, 'latin1')
}

class PageReader {
  readonly #change: ChangeLink
  /** Text that has been read but not yet returned, because it may be the start of a tag. */
  #pendingText = ''
  /** The end of the section that is being skipped. Undefined outside of such a section. */
  #until: End | undefined
  /**
   * The position up to which the buffered tag has been scanned, and the quote character of the attribute value at that
   * position, if one is open.
   */
  #seen = 1
  #quote = ''

  constructor(change: ChangeLink) {
    this.#change = change
  }

  get rest(): string {
    return this.#pendingText
  }

  /** Processes the next part of the page. Returns the text that is complete, with its links rewritten. */
  read(text: string): string {
    this.#pendingText += text
    let passed = ''
    for (;;) {
      const part = this.#until === undefined ? this.#nextTag() : this.#skip(this.#until)
      if (part === undefined) return passed
      passed += part
    }
  }

  #take(length: number): string {
    const part = this.#pendingText.slice(0, length)
    this.#pendingText = this.#pendingText.slice(length)
    return part
  }

  #skip({ pattern, maxLength, consumedLength }: End): string | undefined {
    const end = this.#pendingText.search(pattern)
    if (end >= 0) {
      this.#until = undefined
      return this.#take(end + consumedLength)
    }
    const length = this.#pendingText.length - maxLength + 1
    return length > 0 ? this.#take(length) : undefined
  }

  /**
   * Removes and returns the text before the next tag or, if there is no such text, the tag itself. Returns undefined if
   * the tag is incomplete.
   */
  #nextTag(): string | undefined {
    const start = this.#pendingText.indexOf('<')
    if (start !== 0)
      return this.#pendingText === '' ? undefined : this.#take(start < 0 ? this.#pendingText.length : start)
    if (this.#pendingText.length < '<!--'.length) return undefined
    if (this.#pendingText.startsWith('<!--')) {
      this.#until = endOfComment
      return this.#take('<!--'.length)
    }
    return /[a-z]/i.test(this.#pendingText[1]!) ? this.#tag() : this.#take(1)
  }

  #tag(): string | undefined {
    const end = this.#endOfTag()
    if (end === undefined && this.#pendingText.length <= maxTag) return undefined
    this.#seen = 1
    this.#quote = ''
    if (end === undefined || end > maxTag) return this.#take(end ?? this.#pendingText.length)
    const tag = this.#take(end)
    const name = /^<([^\s/>]+)/.exec(tag)![1]!.toLowerCase()
    this.#until = rawEnds.get(name)
    const attributes = linkAttributes.get(name)
    return attributes === undefined ? tag : changeTag(tag, attributes, this.#change)
  }

  #endOfTag(): number | undefined {
    for (; this.#seen < this.#pendingText.length; this.#seen++) {
      const character = this.#pendingText[this.#seen]!
      if (this.#quote !== '') {
        if (character === this.#quote) this.#quote = ''
      } else if (character === '"' || character === "'") this.#quote = character
      else if (character === '>') return this.#seen + 1
    }
    return undefined
  }
}

/**
 * Matches an attribute's name and its value including quotes. The lookbehind ensures that the match starts at the
 * beginning of a name.
 */
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
