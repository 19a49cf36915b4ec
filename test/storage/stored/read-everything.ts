/**
 * Reads all objects in a fixture and their histories through the API. Returns them in the format that is committed next
 * to the fixture.
 */
import assert from 'node:assert/strict'
import type { HttpClient } from '../../support/http-client.ts'
import { namespace } from './fixture-objects.ts'

/** A server's responses about a fixture. */
export interface Everything {
  /**
   * The text of each list, by path. The version of the list itself is omitted, because it increases with every write.
   */
  readonly lists: { readonly [path: string]: string }
  /** The status of each ObjectHistory, by resource and name. */
  readonly histories: { readonly [object: string]: unknown }
  /** The objects at each revision in these histories, by resource, name and revision. */
  readonly pastStates: { readonly [state: string]: unknown }
}

interface ServedResource {
  readonly name: string
  readonly verbs: readonly string[]
}

/** Reads the server's responses about a fixture. Omits empty lists. */
export async function readEverything(client: HttpClient): Promise<Everything> {
  const lists: { [path: string]: string } = {}
  for (const path of await listPaths(client)) {
    const text = await readList(client, path)
    if (!text.includes('"items":[]')) lists[path] = text
  }
  return { lists, ...(await readHistories(client)) }
}

interface ServedGroup {
  readonly preferredVersion: { readonly groupVersion: string }
  readonly versions: readonly { readonly groupVersion: string }[]
}

/**
 * Returns the path of each type in the preferred version of its group, or in the first version that serves the type.
 * Custom resources are read in all versions.
 */
async function listPaths(client: HttpClient): Promise<string[]> {
  const { groups }: { groups: ServedGroup[] } = (await client.get('/apis')).body
  const paths = new Map<string, string>()
  for (const { preferredVersion, versions } of [core, ...groups])
    for (const { groupVersion } of [preferredVersion, ...versions]) {
      const [group = ''] = groupVersion.split('/')
      if (unstored.test(group)) continue
      const { resources }: { resources: ServedResource[] } = (await client.get(pathOf(groupVersion))).body
      for (const { name, verbs } of resources.filter((resource) => resource.verbs.includes('list'))) {
        const type = `${group === 'example.com' ? groupVersion : group}/${name}`
        if (verbs.includes('create') && !paths.has(type)) paths.set(type, `${pathOf(groupVersion)}/${name}`)
      }
    }
  return [...paths.values()].sort()
}

const core: ServedGroup = { preferredVersion: { groupVersion: 'v1' }, versions: [] }
/** Groups whose objects are not stored or expire. */
const unstored = /^(ops|events|metrics)\./

function pathOf(groupVersion: string): string {
  return groupVersion === 'v1' ? '/api/v1' : `/apis/${groupVersion}`
}

export async function readList(client: HttpClient, path: string): Promise<string> {
  const { status, text } = await client.get(`${path}?labelSelector=fixture%3Dyes`)
  assert.equal(status, 200, `${path}: ${text}`)
  return text.replace(/"metadata":\{("continue":"",)?"resourceVersion":"\d+"\}/, '"metadata":{}')
}

const recorded = [
  { group: '', resource: 'configmaps', name: 'changed' },
  { group: '', resource: 'configmaps', name: 'deleted' },
  { group: '', resource: 'secrets', name: 'encrypted' },
  { group: 'example.com', resource: 'boxes', name: 'plain' },
]

export async function readHistories(client: HttpClient): Promise<Pick<Everything, 'histories' | 'pastStates'>> {
  const histories: { [object: string]: unknown } = {}
  const pastStates: { [state: string]: unknown } = {}
  for (const object of recorded) {
    const spec = { ...object, namespace }
    const history = await ask(client, 'objecthistories', spec)
    const place = `${object.resource}/${object.name}`
    histories[place] = history
    for (const { revision } of history.revisions) {
      if (object.resource === 'secrets') continue
      pastStates[`${place}@${revision}`] = await ask(client, 'paststates', { ...spec, revision })
    }
  }
  return { histories, pastStates }
}

/** Returns the status of the response. A missing object is a valid response. */
async function ask(client: HttpClient, plural: string, spec: object) {
  const { status, text, body } = await client.post(`/apis/ops.orch.io/v1/${plural}`, { spec })
  assert.ok(status === 201 || status === 404, `${JSON.stringify(spec)}: ${text}`)
  return status === 404 ? 'not found' : body.status
}
