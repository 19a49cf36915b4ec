/** The `scale` subresource of kinds with replicas, which autoscalers use. */

import { defined, isObject, type JsonObject, own } from '../json/json.ts'
import { invalidObject } from '../model/api-error.ts'
import { invalid, required } from '../model/field-error.ts'
import type { ApiObject, ObjectMeta } from '../model/object.ts'
import { emulationOf, type RuleContext } from '../schema/context.ts'
import type { Subresource } from '../schema/kind.ts'
import { isAtLeast } from '../versions/emulated-version.ts'
import { type Scale, scale } from './autoscaling/scale.ts'

interface Scalable {
  metadata: ObjectMeta
  spec?: { replicas?: number } | undefined
  status?: { replicas?: number } | undefined
}

/**
 * Returns the `scale` subresource. `selectorOf` returns the pod selector in query syntax, and `prepareForUpdate` is the
 * kind's own update function.
 */
export function scaleOf<T extends Scalable>(
  selectorOf: (object: T) => string,
  prepareForUpdate: Subresource<T>['prepareForUpdate'],
): Subresource<T> {
  return {
    verbs: ['get', 'update', 'patch'],
    readOnly: ['status'],
    prepareForUpdate,
    as: {
      kind: scale,
      read: (object) => showScale(object, selectorOf(object)),
      write: (sent, object, context) => {
        const { spec, metadata } = sent as Scale & ApiObject
        const replicas = spec?.replicas ?? 0
        assertSound(metadata, replicas, context)
        object.spec = { ...object.spec, replicas }
        // An update through Scale uses only the UID and the resourceVersion from the metadata, as preconditions.
        const { uid, resourceVersion } = metadata
        object.metadata = { ...object.metadata, ...defined({ uid }) }
        if (resourceVersion === undefined) delete object.metadata.resourceVersion
        else object.metadata.resourceVersion = resourceVersion
      },
      configOf,
    },
  }
}

/** Returns a copy of an applied Scale with only the replicas and the identifying metadata. */
function configOf(config: JsonObject): JsonObject {
  const { name, namespace, uid, resourceVersion } = part(config, 'metadata')
  const { replicas } = part(config, 'spec')
  return {
    metadata: defined({ name, namespace, uid, resourceVersion }),
    ...(replicas === undefined ? {} : { spec: { replicas } }),
  }
}

function part(config: JsonObject, name: string): JsonObject {
  const value = own(config, name)
  return isObject(value) ? value : {}
}

/**
 * Whether a Scale must contain its namespace. Since 1.24, the server sets a missing namespace to the request's
 * namespace.
 */
function isNamespaceRequired(context: RuleContext): boolean {
  return !isAtLeast(emulationOf(context).version, '1.24')
}

/** Validates a Scale as if it were a separate, namespaced object. */
function assertSound({ namespace, name = '' }: ObjectMeta, replicas: number, context: RuleContext): void {
  const faults = [
    ...(namespace || !isNamespaceRequired(context) ? [] : [required('metadata.namespace')]),
    ...(replicas < 0 ? [invalid('spec.replicas', replicas, 'must be greater than or equal to 0')] : []),
  ]
  if (faults.length > 0) throw invalidObject({ group: scale.group, kind: scale.kind }, name, faults)
}

function showScale({ metadata, spec, status }: Scalable, selector: string): ApiObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata
  return {
    apiVersion: '',
    kind: scale.kind,
    metadata: defined({ name, namespace, uid, resourceVersion, creationTimestamp }),
    spec: { ...(spec?.replicas ? { replicas: spec.replicas } : {}) },
    status: { replicas: status?.replicas ?? 0, ...(selector === '' ? {} : { selector }) },
  }
}
