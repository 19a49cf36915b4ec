/** The `scale` subresource of a custom kind. The definition contains the paths of its fields. */

import { defined, isObject, type Json, type JsonObject, own, setKey } from '../../../api/json/json.ts'
import { scale } from '../../../api/kinds/autoscaling/scale.ts'
import { invalidObject, type KindRef } from '../../../api/model/api-error.ts'
import { type FieldError, invalid } from '../../../api/model/field-error.ts'
import { type ApiObject, asJson } from '../../../api/model/object.ts'
import type { Subresource } from '../../../api/schema/kind.ts'

/** Simple JSON paths, such as `.spec.replicas`. */
export interface ScalePaths {
  readonly specReplicasPath?: string
  readonly statusReplicasPath?: string
  readonly labelSelectorPath?: string
}

/** Creates the scale subresource. Each update of a Scale calls the custom kind's `prepareForUpdate`. */
export function customScale(
  paths: ScalePaths,
  kind: KindRef,
  prepareForUpdate: Subresource<ApiObject>['prepareForUpdate'],
): Subresource<ApiObject> {
  const { specReplicasPath = '', statusReplicasPath = '', labelSelectorPath = '' } = paths
  return {
    verbs: ['get', 'update', 'patch'],
    readOnly: ['status'],
    prepareForUpdate,
    as: {
      kind: scale,
      read: (object) => {
        const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
        const replicas = numberAt(object, specReplicasPath)
        const selector = labelSelectorPath === '' ? undefined : at(object, labelSelectorPath)
        return {
          apiVersion: '',
          kind: scale.kind,
          metadata: defined({ name, namespace, uid, resourceVersion, creationTimestamp }),
          spec: { ...(replicas === 0 ? {} : { replicas }) },
          status: {
            replicas: numberAt(object, statusReplicasPath),
            ...(typeof selector === 'string' && selector !== '' ? { selector } : {}),
          },
        }
      },
      unreadable: (object) =>
        at(object, specReplicasPath) === undefined
          ? `the spec replicas field ${JSON.stringify(specReplicasPath)} does not exist`
          : undefined,
      write: (sent, object) => {
        const { spec, metadata } = sent as ApiObject & { spec?: { replicas?: number } }
        const replicas = spec?.replicas ?? 0
        if (replicas < 0) throw invalidObject(kind, object.metadata.name ?? '', [negative(specReplicasPath, replicas)])
        setAt(object, specReplicasPath, replicas)
        // In the metadata of a Scale, only the uid and the resourceVersion are used. Both act as preconditions.
        const { uid, resourceVersion } = metadata
        object.metadata = { ...object.metadata, ...defined({ uid }) }
        if (resourceVersion === undefined) delete object.metadata.resourceVersion
        else object.metadata.resourceVersion = resourceVersion
      },
    },
  }
}

function negative(path: string, replicas: number): FieldError {
  return invalid(path, replicas, 'should be a non-negative integer')
}

export function namesIn(path: string): string[] {
  return path.slice(1).split('.')
}

function at(object: ApiObject, path: string): Json | undefined {
  return namesIn(path).reduce<Json | undefined>(
    (value, name) => (isObject(value) ? own(value, name) : undefined),
    asJson(object),
  )
}

function numberAt(object: ApiObject, path: string): number {
  const value = at(object, path)
  return typeof value === 'number' ? value : 0
}

/** Sets the value at a path of `object`. Creates missing parent objects. */
function setAt(object: ApiObject, path: string, value: number): void {
  const names = namesIn(path)
  const last = names.pop()!
  let place: JsonObject = asJson(object)
  for (const name of names) {
    const below = own(place, name)
    const next = isObject(below) ? below : {}
    setKey(place, name, next)
    place = next
  }
  setKey(place, last, value)
}
