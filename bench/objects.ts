/**
 * Creates the ConfigMaps that all rows use. Each is 1 kB of JSON, and ten ConfigMaps share each value of the label
 * `ten`. `fill` writes them directly to a store directory, so that creating 100,000 objects takes only seconds.
 */
import { randomUUID } from 'node:crypto'
import { encodeStored } from '../src/api/codec/stored.ts'
import { configMap } from '../src/api/kinds/core/config-map.ts'
import type { ApiObject } from '../src/api/model/object.ts'
import { LmdbStore } from '../src/storage/store/lmdb/store.ts'

export const collection = '/api/v1/namespaces/default/configmaps'

export function nameOf(index: number): string {
  return `object-${String(index).padStart(6, '0')}`
}

export function pathOf(index: number): string {
  return `${collection}/${nameOf(index)}`
}

/** Pads the object so that its JSON in a response is 1 kB long. */
const padding = 'a line of some text. '.repeat(40).slice(0, 524)

/** Returns the JSON of a ConfigMap of 1 kB. A different `text` yields a different object. */
export function objectJson(name: string, text: string): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { padding, text } })
}

function stored(index: number): Buffer {
  const labels = { app: 'bench', ten: `t${Math.floor(index / 10)}` }
  const uid = randomUUID()
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    data: { padding, text: String(index) },
    metadata: {
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels,
      managedFields: [
        {
          apiVersion: 'v1',
          fieldsType: 'FieldsV1',
          fieldsV1: { 'f:data': { '.': {}, 'f:padding': {}, 'f:text': {} } },
          manager: 'bench',
          operation: 'Update',
          time: '2026-01-01T00:00:00Z',
        },
      ],
      name: nameOf(index),
      namespace: 'default',
      uid,
    },
  }
  return encodeStored(keyOf(index), {
    object: object as unknown as ApiObject,
    order: configMap.schema,
    header: { labels },
  })
}

function keyOf(index: number): string {
  return `objects/core/configmaps/default/${nameOf(index)}`
}

const batch = 2000

export async function fill(directory: string, count: number): Promise<void> {
  const store = await LmdbStore.open({ directory })
  try {
    for (let from = 0; from < count; from += batch) {
      const indexes = Array.from({ length: Math.min(batch, count - from) }, (_, i) => from + i)
      await Promise.all(indexes.map((i) => write(store, i)))
    }
  } finally {
    await store.close()
  }
}

async function write(store: LmdbStore, index: number): Promise<void> {
  const key = keyOf(index)
  const { outcome } = await store.commit({ key, expected: 0, value: stored(index) })
  if (outcome === 'conflict') throw new Error(`${key} is there already`)
}
