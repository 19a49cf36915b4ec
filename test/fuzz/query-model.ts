/**
 * A simple model of the responses to list, watch and get queries: the allowed status codes and the expected names,
 * found by scanning all objects that ever existed. The model records when each object was created and deleted. The
 * module imports nothing from src.
 */
export interface Life {
  readonly name: string
  readonly namespace: string
  readonly labels: { readonly [key: string]: string }
  /** The selectable fields in addition to name and namespace. */
  readonly fields: { readonly [path: string]: string }
  readonly born: number
  /** The version at which the object was deleted. */
  readonly gone?: number
}

export interface World {
  readonly lives: readonly Life[]
  /** The newest version so far. */
  readonly newest: number
  /** The selectable fields of this kind. */
  readonly selectable: readonly string[]
}

/** The target of a query. */
export interface Place {
  /** The namespace, or '' for all namespaces. */
  readonly namespace: string
  /** The name, or '' for the collection. */
  readonly name: string
}

export interface Verdict {
  /** The allowed status codes. */
  readonly codes: ReadonlySet<number>
  readonly watch: boolean
  /**
   * The expected content of a 200 response: the names of a list in order, or the events of a watch. Undefined if a
   * token determines the content.
   */
  readonly expectedNames?: readonly string[]
  readonly limit: number
}

/** A continue token: the list to which it belongs, and the names that are still to be listed. */
export interface Token {
  readonly scope: string
  readonly rest: readonly string[]
}

export type Tokens = ReadonlyMap<string, Token>

export function judge(world: World, place: Place, query: URLSearchParams, tokens: Tokens): Verdict {
  const watch = isOn(query.get('watch'))
  const faults = [...faultsOf(world, place, query, watch), ...(watch ? [] : tokenFaults(place, query, tokens))]
  const limit = Math.max(0, Number(query.get('limit') ?? 0))
  if (faults.length > 0) return { codes: new Set(faults), watch, limit }
  const late = isShort(query.get('timeout')) && !watch ? [504] : []
  const version = Number(query.get('resourceVersion') ?? '')
  const token = watch || place.name !== '' ? undefined : tokens.get(query.get('continue') ?? '')
  if (version > world.newest && token === undefined && !watch) return { codes: new Set([504, ...late]), watch, limit }
  if (place.name !== '' && !watch) {
    const there = alive(world, world.newest).some((life) => life.name === place.name && isIn(life, place.namespace))
    return { codes: new Set([there ? 200 : 404, ...late]), watch, limit }
  }
  const expectedNames = token?.rest ?? (watch ? events(world, place, query) : listed(world, place, query))
  return { codes: new Set([200, ...late]), watch, expectedNames, limit }
}

/** Returns the list for which a continue token is valid. */
export function scopeOf(place: Place, query: URLSearchParams): string {
  return JSON.stringify([place.namespace, query.get('labelSelector') ?? '', query.get('fieldSelector') ?? ''])
}

function faultsOf(world: World, place: Place, query: URLSearchParams, watch: boolean): number[] {
  const faults: number[] = []
  if (query.getAll('watch').length > 1) faults.push(400)
  if (!watch && !isTimeout(query.get('timeout'))) faults.push(400)
  if (!isVersion(query.get('resourceVersion') ?? '')) faults.push(400)
  if (place.name !== '' && !watch) return faults
  if (!isWhole(query.get('timeoutSeconds'))) faults.push(400)
  if (!isWhole(query.get('limit'))) faults.push(400)
  if (isMatchMisused(query, watch)) faults.push(422)
  if (labelTerms(query.get('labelSelector') ?? '') === undefined) faults.push(400)
  const fields = fieldTerms(query.get('fieldSelector') ?? '')
  if (fields === undefined || fields.some(({ path }) => !world.selectable.includes(path))) faults.push(400)
  return faults
}

function tokenFaults(place: Place, query: URLSearchParams, tokens: Tokens): number[] {
  const text = query.get('continue') ?? ''
  if (text === '' || place.name !== '') return []
  const version = query.get('resourceVersion') ?? ''
  const good = tokens.get(text)?.scope === scopeOf(place, query)
  return good && (version === '' || version === '0') ? [] : [400]
}

const isOn = (value: string | null) => value !== null && value.toLowerCase() !== 'false' && value !== '0'

function isWhole(value: string | null): boolean {
  if (value === null) return true
  return /^-?\d+$/.test(value) && BigInt(value) >= -(2n ** 63n) && BigInt(value) < 2n ** 63n && value.length <= 20
}

function isVersion(value: string): boolean {
  return value === '' || value === '0' || /^[1-9]\d{0,18}$/.test(value)
}

const durations = /^[+-]?(?:\d{1,12}(?:\.\d{1,9})?(?:ns|us|µs|ms|s|m|h))+$/

function isTimeout(value: string | null): boolean {
  return value === null || value === '' || value === '0' || (value.length <= 64 && durations.test(value))
}

/** Whether the timeout may be shorter than the duration of the request. */
function isShort(value: string | null): boolean {
  return value !== null && value !== '' && value !== '0' && !/^(?:\d{2,}s|[1-9]\d*[mh])$/.test(value)
}

function isMatchMisused(query: URLSearchParams, watch: boolean): boolean {
  const match = query.get('resourceVersionMatch') ?? ''
  const version = query.get('resourceVersion') ?? ''
  if (match === '') return false
  if (watch || version === '' || (query.get('continue') ?? '') !== '') return true
  return match === 'Exact' ? version === '0' : match !== 'NotOlderThan'
}

// Selectors

interface LabelTerm {
  readonly key: string
  readonly means: (value: string | undefined) => boolean
}

const word = '[^ \\t\\r\\n!=<>,()]'
const space = '[ \\t\\r\\n]*'
const term = new RegExp(
  `${space}(?:(?<not>!)${space}(?<absent>${word}+)|(?<key>${word}+)(?:${space}(?:(?<equal>==?|!=)${space}(?<value>${word}*)|(?<than>[<>])${space}(?<number>${word}*)|(?<=[ \\t\\r\\n])(?<among>in|notin)${space}\\((?<values>[^()]*)\\)))?)${space}(?:,|$)`,
  'y',
)

/** Parses a label selector. Returns undefined if the text is not a selector. */
function labelTerms(text: string): LabelTerm[] | undefined {
  if (text.length > 64 * 1024) return undefined
  if (/^[ \t\r\n]*$/.test(text)) return []
  const terms: LabelTerm[] = []
  let at = 0
  do {
    term.lastIndex = at
    const read = labelTerm(term.exec(text)?.groups)
    if (read === undefined || terms.length === 1000) return undefined
    terms.push(read)
    at = term.lastIndex
  } while (at < text.length)
  return text.trimEnd().endsWith(',') ? undefined : terms
}

function labelTerm(groups: { readonly [name: string]: string | undefined } | undefined): LabelTerm | undefined {
  const { not, absent, key = absent, equal, value = '', than, number = '', among, values } = groups ?? {}
  if (key === undefined || !isLabelKey(key)) return undefined
  if (not !== undefined) return { key, means: (found) => found === undefined }
  if (equal !== undefined) {
    if (!isLabelValue(value)) return undefined
    return { key, means: (found) => (equal === '!=' ? found !== value : found === value) }
  }
  if (than !== undefined) {
    if (!/^\d{1,18}$/.test(number)) return undefined
    const isThan = (found: number) => (than === '<' ? found < Number(number) : found > Number(number))
    return { key, means: (found) => found !== undefined && /^-?\d+$/.test(found) && isThan(Number(found)) }
  }
  if (among === undefined) return { key, means: (found) => found !== undefined }
  const some = values!.split(',').map((one) => one.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, ''))
  if (!some.every(isLabelValue)) return undefined
  const isAmong = (found: string | undefined) => found !== undefined && some.includes(found)
  return { key, means: (found) => isAmong(found) === (among === 'in') }
}

function isLabelKey(key: string): boolean {
  const [name, prefix, more] = key.split('/').reverse()
  if (more !== undefined || !/^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/.test(name!)) return false
  return (
    prefix === undefined ||
    (prefix.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(prefix))
  )
}

function isLabelValue(value: string): boolean {
  return value === '' || /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/.test(value)
}

interface FieldTerm {
  readonly path: string
  readonly equal: boolean
  readonly value: string
}

const fieldTerm = /^((?:(?!!=|=)[\s\S])*)(!=|==|=)((?:[^\\=]|\\[\\,=])*)$/

/**
 * Parses a field selector. Returns undefined if the text is not a selector. A comma after a backslash belongs to its
 * term.
 */
export function fieldTerms(text: string): FieldTerm[] | undefined {
  if (text.length > 64 * 1024) return undefined
  const terms = (text.match(/(?:[^\\,]|\\[\s\S]?)+/g) ?? []).map((one) => fieldTerm.exec(one))
  if (terms.length > 1000 || terms.includes(null)) return undefined
  return terms.map((read) => {
    const [, path = '', operator, value = ''] = read!
    return { path, equal: operator !== '!=', value: value.replace(/\\([\s\S])/g, '$1') }
  })
}

export function fieldsMatch(terms: readonly FieldTerm[], fieldOf: (path: string) => string): boolean {
  return terms.every(({ path, equal, value }) => (fieldOf(path) === value) === equal)
}

// Objects

function alive({ lives }: World, version: number): Life[] {
  return lives
    .filter(({ born, gone = Number.POSITIVE_INFINITY }) => born <= version && gone > version)
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

/** Returns the key by which lists are sorted. */
const keyOf = ({ namespace, name }: Life) => `${namespace}/${name}`

const isIn = (life: Life, namespace: string) => namespace === '' || life.namespace === namespace

function isChosen(life: Life, { namespace, name }: Place, query: URLSearchParams): boolean {
  const labels = labelTerms(query.get('labelSelector') ?? '')!
  const fields = fieldTerms(query.get('fieldSelector') ?? '')!
  const all = new Map([
    ...Object.entries(life.fields),
    ['metadata.name', life.name],
    ['metadata.namespace', life.namespace],
  ])
  return (
    isIn(life, namespace) &&
    (name === '' || name === life.name) &&
    labels.every(({ key, means }) => means(Object.hasOwn(life.labels, key) ? life.labels[key] : undefined)) &&
    fieldsMatch(fields, (path) => all.get(path) ?? '')
  )
}

/** Returns the names in a list without a limit. */
function listed(world: World, place: Place, query: URLSearchParams): string[] {
  const version = Number(query.get('resourceVersion') ?? '')
  const match = query.get('resourceVersionMatch') ?? ''
  const exact = version > 0 && (match === 'Exact' || (match === '' && Number(query.get('limit') ?? 0) > 0))
  return alive(world, exact ? version : world.newest)
    .filter((life) => isChosen(life, place, query))
    .map(({ name }) => name)
}

/** Returns events such as `ADDED a`: for the objects that exist, or for creations and deletions after a version. */
function events(world: World, place: Place, query: URLSearchParams): string[] {
  const version = Number(query.get('resourceVersion') ?? '')
  if (version === 0) return listed(world, place, query).map((name) => `ADDED ${name}`)
  return world.lives
    .filter((life) => isChosen(life, place, query))
    .flatMap(({ name, born, gone = 0 }) => [
      { at: born, event: `ADDED ${name}` },
      { at: gone, event: `DELETED ${name}` },
    ])
    .filter(({ at }) => at > version)
    .sort((a, b) => a.at - b.at)
    .map(({ event }) => event)
}
