/** Creates custom resource definitions for tests, waits for their events, and deletes them. */
import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/api/json/json.ts'
import type { HttpClient, WatchEvent } from '../../support/http-client.ts'

export const definitions = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'

export interface DefinitionOptions {
  readonly plural?: string
  readonly kind?: string
  readonly group?: string
  readonly scope?: 'Namespaced' | 'Cluster'
  readonly shortNames?: string[]
  readonly schema?: JsonObject
  /** Additional fields of the version. */
  readonly version?: JsonObject
  readonly versions?: JsonObject[]
  readonly conversion?: object
}

const plainSchema = {
  type: 'object',
  properties: {
    spec: { type: 'object', properties: { size: { type: 'integer' }, color: { type: 'string' } } },
    status: { type: 'object', 'x-orch-preserve-unknown-fields': true },
  },
}

export function definitionOf(options: DefinitionOptions = {}) {
  const {
    plural = 'widgets',
    kind = 'Widget',
    group = 'stable.example.com',
    scope = 'Namespaced',
    shortNames,
  } = options
  const { schema = plainSchema, version = {}, versions, conversion } = options
  const only = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version }
  return {
    apiVersion: 'apiextensions.orch.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { plural, kind, ...(shortNames && { shortNames }) },
      versions: versions ?? [only],
      ...(conversion && { conversion }),
    },
  }
}

/** Creates a definition and resolves once it is established. */
export async function define(client: HttpClient, options: DefinitionOptions = {}): Promise<string> {
  const definition = definitionOf(options)
  const made = await client.post(definitions, definition)
  assert.equal(made.status, 201, made.text)
  await isEstablished(client, definition.metadata.name)
  return definition.metadata.name
}

export async function isEstablished(client: HttpClient, name: string): Promise<void> {
  await waitForEvent(client, name, ({ object }) => conditionOf(object, 'Established') === 'True')
}

interface Conditioned {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

export function conditionOf({ status }: Conditioned, type: string): string | undefined {
  return status?.conditions?.find((condition) => condition.type === type)?.status
}

/** Deletes a definition and resolves once it no longer exists. */
export async function undefine(client: HttpClient, name: string): Promise<void> {
  const deleted = await client.delete(`${definitions}/${name}`)
  assert.equal(deleted.status, 200, deleted.text)
  await isGone(client, name)
}

export async function isGone(client: HttpClient, name: string): Promise<void> {
  const { body } = await client.get(`${definitions}?${only(name)}`)
  if (body.items.length === 0) return
  await waitForEvent(client, name, ({ type }) => type === 'DELETED', body.metadata.resourceVersion)
}

function only(name: string): string {
  return `fieldSelector=metadata.name%3D${name}`
}

/** Resolves with the first matching event about a definition, and fails after a timeout. */
export async function waitForEvent(
  client: HttpClient,
  name: string,
  isWanted: (event: WatchEvent) => boolean,
  resourceVersion = '',
): Promise<WatchEvent> {
  const path = `${definitions}?watch=1&${only(name)}&resourceVersion=${resourceVersion}&timeoutSeconds=60`
  for await (const event of client.watch(path, AbortSignal.timeout(60_000))) if (isWanted(event)) return event
  throw new Error(`nothing of what was wanted was told of ${name}`)
}

/** Returns the apiVersion and kind of an object, which are required for custom kinds. */
export function typeOf({ kind = 'Widget', group = 'stable.example.com' }: DefinitionOptions = {}, version = 'v1') {
  return { apiVersion: `${group}/${version}`, kind }
}

export function collectionOf(
  { plural = 'widgets', group = 'stable.example.com' }: DefinitionOptions = {},
  namespace = 'default',
) {
  return `/apis/${group}/v1/namespaces/${namespace}/${plural}`
}
