/**
 * The range of Kubernetes versions in which a kind has the same fields and defaults. An object that was written by any
 * version in the range needs no conversion.
 */
import type { Vendor } from '../model/vendor.ts'
import { type Availability, gateNames } from '../versions/availability.ts'
import { type EmulatedVersion, type KubeVersion, minorOf } from '../versions/emulated-version.ts'
import { gateChanges } from '../versions/feature-gates.ts'
import type { Kind } from './kind.ts'
import type { Schema } from './schema.ts'

/** A range of minor versions. `end` is exclusive. */
export interface VersionSpan {
  /** First minor version of the range. */
  readonly first: number
  /** First minor version after the range. */
  readonly end: number
}

/** Returns the range of versions around `version` in which objects of the kind have the same fields and defaults. */
export function spanOf(kind: Kind, { version, vendor }: { version: EmulatedVersion; vendor: Vendor }): VersionSpan {
  const own = minorOf(version)
  const changes = changesOf(kind.schema, vendor)
  return {
    first: Math.max(0, ...changes.filter((change) => change <= own)),
    end: Math.min(Number.POSITIVE_INFINITY, ...changes.filter((change) => change > own)),
  }
}

/** Returns the minor versions in which a schema changes. Skips the content of fields that do not exist in a version. */
function changesOf(schema: Schema, vendor: Vendor): number[] {
  const changes = new Set<number>()
  const seen = new Set<Schema>()
  const add = (version: KubeVersion | undefined) => {
    if (version !== undefined) changes.add(minorOf(version))
  }
  const addPart = ({ since, until, gate }: Availability) => {
    add(since)
    add(until)
    // Defaults of fields whose feature gate is disabled do not apply.
    for (const name of gate === undefined ? [] : gateNames(gate)) for (const change of gateChanges(name)) add(change)
  }
  const visit = (part: Schema): void => {
    if (seen.has(part)) return
    seen.add(part)
    if (part.type === 'list') visit(part.items)
    else if (part.type === 'map') visit(part.values)
    else if (part.type === 'any') {
      if (part.versioned !== true) return
      if (part.described) visit(part.described(vendor))
      if (part.alternatives) visit(part.alternatives.object.schema)
      if (part.alternatives?.list) visit(part.alternatives.list.items)
    } else if (part.type === 'object') {
      for (const other of Object.values(part.otherVersions ?? {})) addPart(other)
      for (const field of Object.values(part.fields)) {
        addPart(field)
        add(field.earlier?.until)
        visit(field.schema)
      }
    }
  }
  visit(schema)
  return [...changes]
}
