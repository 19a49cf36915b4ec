/**
 * URL functions, which Kubernetes adds to the standard functions of CEL. The functions accept absolute URLs and
 * absolute paths.
 */
import type { Budget } from '../budget.ts'
import { sizeOf } from '../compare.ts'
import { type Costs, define, type Functions, type Overload } from '../overload.ts'
import { traversal } from '../size.ts'
import { ArrayList, CelError, LiteralMap, UrlValue, type Value } from '../values.ts'

const reading: Costs = {
  actual: ([text]) => traversal(sizeOf(text!)),
  estimate: ([text]) => ({ cost: traversal(text!.size.max), size: text!.size }),
}

/** Maximum length of a URL. Longer URLs are rejected. */
const maxUrl = 65_536

const form = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#.*)?$/s
// biome-ignore lint/suspicious/noControlCharactersInRegex: URLs must not contain control characters
const control = /[\u0000-\u001f\u007f]/
const badEscape = /%(?![0-9a-fA-F]{2})/

/** Parses a URL. Returns undefined if the string is not a URL. */
function parseUrl(text: string): UrlValue | undefined {
  if (text === '' || text.length > maxUrl || control.test(text)) return undefined
  const match = form.exec(text)
  if (match === null) return undefined
  const [, scheme = '', authority = '', path = '', query = ''] = match
  if (scheme === '' && !text.startsWith('/')) return undefined
  // If a URL has neither an authority nor a path, as in a mailto URL, the rest of the URL is not parsed.
  const isOpaque = match[2] === undefined && scheme !== '' && !path.startsWith('/')
  if (!isOpaque && badEscape.test(path)) return undefined
  const host = readHost(authority)
  if (host === undefined) return undefined
  const shownPath = isOpaque ? '' : escapePath(path)
  return new UrlValue({ text, scheme: scheme.toLowerCase(), ...host, path: shownPath, query })
}

function readHost(authority: string): Pick<UrlValue, 'host' | 'hostname' | 'port'> | undefined {
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  const match = /^(\[[^\]]*\]|[^:[\]]*)(?::(\d*))?$/.exec(host)
  if (match === null || /[\s<>"\\^`{|}]/.test(host) || badEscape.test(host)) return undefined
  const [, name = '', port = ''] = match
  return { host, hostname: name.startsWith('[') ? name.slice(1, -1) : name, port }
}

function escapePath(path: string): string {
  return path.replaceAll(/[^A-Za-z0-9\-._~!$&'()*+,;=:@/%]+/gu, (found) => encodeURIComponent(found.toWellFormed()))
}

/** Whether a string is a URL. As in Kubernetes, the cost is one unit regardless of the string's length. */
function isUrl(budget: Budget, text: string): boolean {
  budget.work(text.length)
  return parseUrl(text) !== undefined
}

function urlOf(text: Value | undefined): UrlValue {
  const url = parseUrl(text as string)
  if (url !== undefined) return url
  const shown = JSON.stringify((text as string).slice(0, 200))
  throw new CelError(`URL parse error during conversion from string: parse ${shown}: invalid URI for request`)
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

function queryOf({ query }: UrlValue): LiteralMap {
  const values = new Map<string, string[]>()
  for (const part of query.split('&')) {
    if (part === '' || part.includes(';')) continue
    const [key = '', ...rest] = part.split('=')
    const name = decoded(key)
    const value = decoded(rest.join('='))
    if (name === undefined || value === undefined) continue
    const otherValues = values.get(name)
    if (otherValues === undefined) values.set(name, [value])
    else otherValues.push(value)
  }
  return new LiteralMap([...values].map(([name, found]) => [name, new ArrayList(found)]))
}

function part(read: (url: UrlValue) => string): Overload[] {
  return [define('url.() string', (_, [url]) => read(url as UrlValue))]
}

export const urls: Functions = new Map([
  ['url', [define('(string) url', (_, [text]) => urlOf(text), reading)]],
  ['isURL', [define('(string) bool', ({ budget }, [text]) => isUrl(budget, text as string))]],
  ['getScheme', part(({ scheme }) => scheme)],
  ['getHost', part(({ host }) => host)],
  ['getHostname', part(({ hostname }) => hostname)],
  ['getPort', part(({ port }) => port)],
  ['getEscapedPath', part(({ path }) => path)],
  [
    'getQuery',
    [
      define('url.() map(string, list(string))', ({ budget }, [url]) => {
        budget.allocate((url as UrlValue).query.length)
        return queryOf(url as UrlValue)
      }),
    ],
  ],
])
