/**
 * The author of a Stage object: the user who created the object or last changed its specification. The API server
 * records the author in an annotation, which clients cannot change. The Stage acts with the author's permissions
 * (docs/decisions/0067-stage-authors.md).
 */
import { isObject, type Json } from '../../../api/json/json.ts'
import type { User } from '../../../api/model/user.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'

/** Returns the key of the annotation that contains the author. */
export function stageAuthorKey(vendor: Vendor): string {
  return vendorKey(vendor, 'stage-author', 'simulation')
}

/** Returns the value of the annotation for a user. The value is the same for equal users. */
export function authorText({ name, uid, groups, extra }: User): string {
  const extras = [...extra].sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify({ name, uid, groups: [...groups].sort(), extra: Object.fromEntries(extras) })
}

/** Parses the value of the annotation. Returns undefined if the value is invalid. */
export function readAuthor(text: string): User | undefined {
  const value = parse(text)
  if (!isObject(value) || !isObject(value.extra)) return undefined
  const { name, uid, groups, extra } = value
  const extras = Object.entries(extra)
  const isValid =
    typeof name === 'string' && typeof uid === 'string' && isTexts(groups) && extras.every(([, each]) => isTexts(each))
  return isValid ? { name, uid, groups, extra: new Map(extras as [string, string[]][]) } : undefined
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

function isTexts(value: Json | undefined): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}
