/**
 * Facts about this project's own kinds (group `ops`). They are derived from the definitions, because there are no
 * recordings of these kinds. A new kind therefore needs no handwritten facts, but is still compared in all its
 * encodings.
 */
import { kindsOfVersion } from '../../src/api/kinds/of-version.ts'
import type { Kind } from '../../src/api/schema/kind.ts'
import type { Field, ObjectSchema, Schema } from '../../src/api/schema/schema.ts'

/** The kinds of Kubernetes 1.23, for which recorded facts exist. */
const allKinds = kindsOfVersion('1.23')

interface OwnFacts {
  readonly gvk?: readonly string[]
  readonly fields: {
    readonly [name: string]: { readonly type: string; readonly tag?: number; readonly required?: boolean }
  }
}

const ownGroup = 'ops'

/** Returns facts by full type name: `ops.v1.WhoAmI`. */
export function ownFacts(): { readonly [name: string]: OwnFacts } {
  const found = new Map<string, OwnFacts>()
  for (const kind of allKinds) if (kind.group === ownGroup) addKind(kind, found)
  return Object.fromEntries(found)
}

const typeMeta = { apiVersion: { type: 'string' }, kind: { type: 'string' } }

function addKind(kind: Kind, found: Map<string, OwnFacts>): void {
  const name = `${ownGroup}.${kind.version}.${kind.kind}`
  const gvk = [`${ownGroup}.orch.io/${kind.version} ${kind.kind}`]
  found.set(name, {
    gvk,
    fields: { ...typeMeta, metadata: { type: 'meta.v1.ObjectMeta', tag: 1 }, ...ownFields(kind.schema, kind, found) },
  })
  if (kind.lifecycle.virtual && !kind.lifecycle.verbs?.includes('list')) return
  const items = { type: `${name}[]`, tag: 2, required: true }
  const metadata = { type: 'meta.v1.ListMeta', tag: 1 }
  found.set(`${name}List`, { gvk: gvk.map((each) => `${each}List`), fields: { ...typeMeta, metadata, items } })
}

function ownFields(schema: ObjectSchema, kind: Kind, found: Map<string, OwnFacts>) {
  const fields = Object.entries(schema.fields).filter(([, { tag }]) => tag !== 0)
  return Object.fromEntries(
    fields
      .filter(([name]) => name !== 'metadata' || schema !== kind.schema)
      .map(([name, field]) => [
        name,
        { type: typeOf(field.schema, kind, found), tag: field.tag, required: isRequired(field) },
      ]),
  )
}

/** Whether the published schema requires the field: see `api/schema/openapi.ts`. */
function isRequired({ required, zeroValue: zero, schema, published }: Field): boolean {
  if (published !== undefined) return published === 'required'
  return required || (zero === 'write' && schema.type !== 'object' && schema.type !== 'time')
}

function typeOf(schema: Schema, kind: Kind, found: Map<string, OwnFacts>): string {
  switch (schema.type) {
    case 'list':
      return `${typeOf(schema.items, kind, found)}[]`
    case 'map':
      return `map<string,${typeOf(schema.values, kind, found)}>`
    case 'integer':
      return `integer:int${schema.bits}`
    case 'number':
      return 'number:double'
    case 'bytes':
      return 'string:byte'
    case 'string':
    case 'boolean':
      return schema.type
    case 'time':
      return schema.micro ? 'meta.v1.MicroTime' : 'meta.v1.Time'
    case 'any':
      return 'runtime.RawExtension'
    case 'object':
      return typeNamed(schema, kind, found)
    default:
      throw new Error(`facts of ${schema.type} are not read off definitions yet: add them to own-facts.ts`)
  }
}

/**
 * Returns the full name of a type and adds its facts. The types of other groups are recorded, whereas this project's
 * own types are derived like their kind.
 */
function typeNamed(schema: ObjectSchema, kind: Kind, found: Map<string, OwnFacts>): string {
  if (schema.name === undefined) throw new Error(`a type of ${kind.kind} has no name`)
  if (schema.name.includes('.')) return schema.name
  const name = `${ownGroup}.${kind.version}.${schema.name}`
  if (!found.has(name)) {
    found.set(name, { fields: {} })
    found.set(name, { fields: ownFields(schema, kind, found) })
  }
  return name
}
