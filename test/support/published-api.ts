/**
 * The published API: every kind in every version with its fields, their types and allowed values.
 * `test/data/published-api.txt` contains it with one line per kind and type, so that changes are visible in a review:
 *
 * apps/v1 deployments: Deployment Namespaced status,scale = T12 T12 Deployment: apiVersion string; spec T13; ...
 *
 * Type numbers are local to the file. `bin/node test/support/published-api.ts > test/data/published-api.txt`
 * regenerates the file.
 */
import { kindsOfVersion } from '../../src/api/kinds/of-version.ts'
import { type Kind, removalOf } from '../../src/api/schema/kind.ts'
import type { ObjectSchema, Schema } from '../../src/api/schema/schema.ts'

export interface PublishedKind {
  readonly head: string
  /** The API levels at which the type is deprecated and removed, as text. Empty if it is not deprecated. */
  readonly until: string
  readonly subresources: readonly string[]
  readonly type: string
}

export interface PublishedApi {
  /** Kinds by group, version and plural, such as `apps/v1 deployments`. */
  readonly kinds: ReadonlyMap<string, PublishedKind>
  /** The types of fields, by object type and field. */
  readonly types: ReadonlyMap<string, ReadonlyMap<string, string>>
}

/** Returns the API of the oldest emulated version as text. */
export function writeApi(kinds: readonly Kind[] = kindsOfVersion('1.23')): string {
  const types = new Types()
  const lines = kinds.map((kind) => {
    const { group, version, plural, scope, views } = kind
    const removal = removalOf(kind)
    const until = removal === undefined ? '' : ` until=v${removal}`
    const subresources = Object.keys(views.subresources ?? {}).sort()
    const head = `${group}/${version} ${plural}: ${kind.kind} ${scope}${until}`
    return `${head} [${subresources}] = ${types.of(kind.schema)}`
  })
  return `${[...lines.sort(), '', ...types.lines()].join('\n')}\n`
}

class Types {
  readonly #labelsBySchema = new Map<ObjectSchema, string>()
  readonly #lines: string[] = []

  of(schema: Schema): string {
    if (schema.type === 'list') return `[${this.of(schema.items)}]`
    if (schema.type === 'map') return `{${this.of(schema.values)}}`
    if (schema.type === 'string') return schema.values === undefined ? 'string' : `string(${schema.values.join('|')})`
    if (schema.type === 'integer') return `int${schema.bits}`
    return schema.type === 'object' ? this.#object(schema) : schema.type
  }

  lines(): readonly string[] {
    return this.#lines
  }

  #object(schema: ObjectSchema): string {
    const before = this.#labelsBySchema.get(schema)
    if (before !== undefined) return before
    const label = `T${this.#labelsBySchema.size + 1}`
    this.#labelsBySchema.set(schema, label)
    const at = this.#lines.push('') - 1
    const fields = Object.entries(schema.fields).map(([name, field]) => `${name} ${this.of(field.schema)}`)
    this.#lines[at] = `${label} ${schema.name ?? '-'}: ${fields.join('; ')}`
    return label
  }
}

export function readApi(text: string): PublishedApi {
  const kinds = new Map<string, PublishedKind>()
  const types = new Map<string, ReadonlyMap<string, string>>()
  const [first = '', second = ''] = text.split('\n\n')
  for (const line of first.split('\n')) {
    const [, place = '', head = '', until = '', subresources = '', type = ''] =
      /^(\S+ \S+): (\S+ \S+)(?: until=(\S+))? \[(.*)\] = (.*)$/.exec(line) ?? []
    kinds.set(place, { head, until, subresources: subresources.split(',').filter(Boolean), type })
  }
  for (const line of second.trim().split('\n')) {
    const [, label = '', fields = ''] = /^(\S+) \S+: (.*)$/.exec(line) ?? []
    types.set(
      label,
      new Map(
        fields
          .split('; ')
          .filter(Boolean)
          .map((field) => field.split(' ', 2) as [string, string]),
      ),
    )
  }
  return { kinds, types }
}

/**
 * Returns everything that was published in `before` and is missing in `now`, unless the deprecation rules allow its
 * removal at the given API level, such as `v1.23`.
 */
export function vanished(before: PublishedApi, now: PublishedApi, level: string): string[] {
  const lost: string[] = []
  for (const [place, kind] of before.kinds) {
    // Alpha versions may change in any release. Other versions may be removed once the announced release has been
    // reached.
    if (place.includes('alpha')) continue
    const found = now.kinds.get(place)
    if (found === undefined) {
      if (kind.until === '' || minor(level) < minor(kind.until)) lost.push(place)
      continue
    }
    if (found.head !== kind.head) lost.push(`${place}: was ${kind.head}, is ${found.head}`)
    for (const name of kind.subresources) if (!found.subresources.includes(name)) lost.push(`${place}/${name}`)
    lost.push(...new Comparison(before, now).lost(kind.type, found.type, place))
  }
  return lost
}

function minor(level: string): number {
  return Number(level.split('.')[1])
}

class Comparison {
  readonly #before: PublishedApi
  readonly #now: PublishedApi
  readonly #visitedNames = new Set<string>()

  constructor(before: PublishedApi, now: PublishedApi) {
    this.#before = before
    this.#now = now
  }

  lost(was: string, is: string, path: string): string[] {
    const inner = within(was)
    const other = within(is)
    if (inner !== undefined && other !== undefined && was[0] === is[0]) return this.lost(inner, other, `${path}[]`)
    if (was.startsWith('string(') && is.startsWith('string')) return lostValues(was, is, path)
    const fields = this.#before.types.get(was)
    const others = this.#now.types.get(is)
    if (fields === undefined || others === undefined) return was === is ? [] : [`${path}: was ${was}, is ${is}`]
    if (this.#visitedNames.has(`${was} ${is}`)) return []
    this.#visitedNames.add(`${was} ${is}`)
    return [...fields].flatMap(([name, type]) => {
      const found = others.get(name)
      return found === undefined ? [`${path}.${name}`] : this.lost(type, found, `${path}.${name}`)
    })
  }
}

/** Returns the element type of a list or map. */
function within(type: string): string | undefined {
  return /^[[{]/.test(type) ? type.slice(1, -1) : undefined
}

/** Returns the values that are no longer allowed. A field that now accepts any value has not lost any. */
function lostValues(was: string, is: string, path: string): string[] {
  if (is === 'string') return []
  const allowed = is.slice('string('.length, -1).split('|')
  const values = was.slice('string('.length, -1).split('|')
  return values.filter((value) => !allowed.includes(value)).map((value) => `${path}: the value ${value}`)
}

if (import.meta.main) process.stdout.write(writeApi())
