/**
 * Computes and writes the status of definitions: the accepted names and the Established condition. Every server may
 * write the status. The names are reserved in the same commit, so that only one of two competing definitions gets a
 * name.
 */

import { type Json, sameJson } from '../../../api/json/json.ts'
import { soundStoredVersions } from '../../../api/kinds/apiextensions/custom-resource-definition.ts'
import { isTrue, withCondition } from '../../../api/kinds/apiextensions/definition-conditions.ts'
import type {
  CustomResourceDefinition,
  DefinitionCondition,
  DefinitionStatus,
} from '../../../api/kinds/apiextensions/definition-fields.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import { parseVersion } from '../../../api/model/resource-version.ts'
import type { Catalogue } from '../../registry/catalogue/catalogue.ts'
import type { Resource } from '../../registry/catalogue/resource.ts'
import { updateObject } from '../../registry/verbs/update.ts'
import { ownWrite } from '../../registry/writes/server-write.ts'
import type { DefinitionSummaries, DefinitionSummary } from './definition-summaries.ts'
import { type GrantedNames, grantNames, hasPluralAndKind, namesTaken } from './names.ts'
import { ownNames } from './own-names.ts'

export interface DefinitionStatusParts {
  /** The `customresourcedefinitions` resource. */
  readonly resource: Resource
  readonly known: DefinitionSummaries
  readonly catalogue: Catalogue
}

/** Determines which of the names that a definition requests would currently be accepted. */
export function namesFor({ known, catalogue }: DefinitionStatusParts, definition: DefinitionSummary): GrantedNames {
  const others = known.ofGroup(definition.group).filter(({ name }) => name !== definition.name)
  const takenNames = namesTaken(others.map(({ acceptedNames: granted }) => granted))
  const own = ownNames(catalogue, definition.group)
  return grantNames(definition.requestedNames, definition.acceptedNames, {
    resources: new Set([...takenNames.resources, ...own.resources]),
    kinds: new Set([...takenNames.kinds, ...own.kinds]),
  })
}

/** Whether the status is already up to date. */
export function isUpToDate(definition: CustomResourceDefinition, granted: GrantedNames, now: number): boolean {
  const status = definition.status ?? {}
  return sameJson(status as Json, nextStatus(status, definition, { granted, now }) as Json)
}

/** Writes the status if the definition is unchanged and its names are still free. */
export async function writeStatus(
  parts: DefinitionStatusParts,
  definition: DefinitionSummary,
  { granted, signal }: { readonly granted: GrantedNames; readonly signal: AbortSignal },
): Promise<void> {
  const { resource } = parts
  const context = ownWrite(resource, { subresource: 'status', optionsKind: 'UpdateOptions', signal })
  await updateObject(context, definition.name, (previous) => {
    // Skip the write if the definition has changed, because the change has already queued another reconciliation.
    const changed = parseVersion(previous.metadata.resourceVersion!) !== definition.revision
    if (changed || !sameJson(namesFor(parts, definition) as unknown as Json, granted as unknown as Json))
      return { object: previous, managed: true }
    const object = previous as CustomResourceDefinition
    const status = nextStatus(object.status ?? {}, object, { granted, now: resource.clock.now() })
    return { object: { ...previous, status } as ApiObject, managed: false }
  })
}

interface Grant {
  readonly granted: GrantedNames
  readonly now: number
}

function nextStatus(
  status: DefinitionStatus,
  definition: CustomResourceDefinition,
  { granted: { names, condition }, now }: Grant,
): DefinitionStatus {
  const storedVersions = soundStoredVersions({ ...definition, status })
  const accepted = withCondition({ ...status, acceptedNames: names, storedVersions }, condition, now)
  return isTrue(definition, 'Established') && hasPluralAndKind(names)
    ? accepted
    : withCondition(accepted, condition.status === 'True' ? established : notAccepted, now)
}

const established: DefinitionCondition = {
  type: 'Established',
  status: 'True',
  reason: 'InitialNamesAccepted',
  message: 'the initial names have been accepted',
}

const notAccepted: DefinitionCondition = {
  type: 'Established',
  status: 'False',
  reason: 'NotAccepted',
  message: 'not all names are accepted',
}
