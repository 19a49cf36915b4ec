/**
 * Reads the APIResourceList of an aggregated server. The server is not trusted: only expected members with the right
 * type are copied, so that the merged discovery document stays valid.
 */
import { parseSliced } from '../../api/codec/json.ts'
import { isObject, type Json, type JsonObject, own } from '../../api/json/json.ts'
import { ApiError } from '../../api/model/api-error.ts'
import { TimeSlice } from '../../base/concurrency/time-slice.ts'
import { CallError } from '../../wire/http/client/call-error.ts'
import { assertFewValues } from '../outbound/json-effort.ts'

const maxValues = 50_000
const texts = ['name', 'singularName', 'group', 'version', 'kind'] as const
const lists = ['verbs', 'shortNames', 'categories'] as const

/** Returns the entries of the list, or undefined if the bytes are not an APIResourceList. */
export async function resourcesIn(bytes: Buffer): Promise<JsonObject[] | undefined> {
  const list = await parsed(bytes)
  const resources = isObject(list) ? own(list, 'resources') : undefined
  if (!Array.isArray(resources)) return undefined
  return resources.filter(isObject).map(knownMembers).filter(hasName)
}

async function parsed(bytes: Buffer): Promise<Json | undefined> {
  try {
    assertFewValues(bytes, maxValues)
    return (await new TimeSlice().run(parseSliced(bytes))).value
  } catch (error) {
    if (error instanceof CallError || error instanceof ApiError) return undefined
    throw error
  }
}

function knownMembers(resource: JsonObject): JsonObject {
  const entry: JsonObject = { namespaced: own(resource, 'namespaced') === true }
  for (const name of texts) {
    const value = own(resource, name)
    if (typeof value === 'string') entry[name] = value
  }
  for (const name of lists) {
    const value = own(resource, name)
    if (Array.isArray(value)) entry[name] = value.filter((each) => typeof each === 'string')
  }
  return entry
}

function hasName({ name }: JsonObject): boolean {
  return typeof name === 'string' && name !== ''
}
