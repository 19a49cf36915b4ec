/**
 * Decides which of the names that a definition requests are accepted: those that neither a built-in kind nor another
 * definition in the same group uses. A name stays accepted until the definition no longer requests it or is deleted.
 *
 * The status of a definition contains the accepted names. However, the status may have been written by another program,
 * or by a server that did not yet have a built-in kind with the same name. Names from a status are therefore used only
 * if they could have been accepted (`credibleNames`).
 */
import type { DefinitionCondition, DefinitionNames } from '../../../api/kinds/apiextensions/definition-fields.ts'
import { kindNames, resourceNames } from '../../../api/kinds/apiextensions/definition-names.ts'

/** Names of one API group that other definitions or built-in kinds use. */
export interface TakenNames {
  /** Plural, singular and short names. */
  readonly resources: ReadonlySet<string>
  /** Kinds and list kinds. */
  readonly kinds: ReadonlySet<string>
}

export interface GrantedNames {
  readonly names: DefinitionNames
  readonly condition: DefinitionCondition
}

export function namesTaken(all: Iterable<DefinitionNames>): TakenNames {
  const resources = new Set<string>()
  const kinds = new Set<string>()
  for (const names of all) {
    for (const name of resourceNames(names)) resources.add(name)
    for (const name of kindNames(names)) kinds.add(name)
  }
  return { resources, kinds }
}

/**
 * Filters the accepted names in a definition's status, which other programs can write. Drops names that the server
 * would never accept: those of built-in kinds, and a plural name or kind that differs from the requested one, because
 * both are immutable.
 */
export function credibleNames(reported: DefinitionNames, requested: DefinitionNames, own: TakenNames): DefinitionNames {
  const names: DefinitionNames = { ...reported }
  const { singular = '', listKind = '', shortNames } = reported
  if (reported.plural !== requested.plural || own.resources.has(reported.plural ?? '')) names.plural = ''
  if (reported.kind !== requested.kind || own.kinds.has(reported.kind ?? '')) names.kind = ''
  if (own.resources.has(singular)) delete names.singular
  if (own.kinds.has(listKind)) delete names.listKind
  if (shortNames?.some((name) => own.resources.has(name))) delete names.shortNames
  return names
}

/** Whether a definition has the two names that are required to serve its types. */
export function hasPluralAndKind({ plural = '', kind = '' }: DefinitionNames): boolean {
  return plural !== '' && kind !== ''
}

/** Whether all requested names are accepted. */
export function grantsAll({ condition }: GrantedNames): boolean {
  return condition.status === 'True'
}

/**
 * Determines the accepted names. `current` contains the names that were accepted before. If several names conflict, the
 * last conflict is reported.
 */
export function grantNames(requested: DefinitionNames, current: DefinitionNames, takenNames: TakenNames): GrantedNames {
  const names: DefinitionNames = { ...current }
  let conflict: Pick<DefinitionCondition, 'reason' | 'message'> | undefined
  const grant = (part: 'plural' | 'singular' | 'kind' | 'listKind', others: ReadonlySet<string>) => {
    const name = requested[part] ?? ''
    if (name === (current[part] ?? '') || !others.has(name)) names[part] = name
    else conflict = { reason: `${part.charAt(0).toUpperCase()}${part.slice(1)}Conflict`, message: inUse([name]) }
  }
  grant('plural', takenNames.resources)
  grant('singular', takenNames.resources)
  const refused = (requested.shortNames ?? []).filter(
    (name) => !(current.shortNames ?? []).includes(name) && takenNames.resources.has(name),
  )
  if (refused.length > 0) conflict = { reason: 'ShortNamesConflict', message: inUse(refused) }
  else setList(names, 'shortNames', requested.shortNames)
  grant('kind', takenNames.kinds)
  grant('listKind', takenNames.kinds)
  setList(names, 'categories', requested.categories)
  return {
    names,
    condition: conflict === undefined ? granted : { type: 'NamesAccepted', status: 'False', ...conflict },
  }
}

const granted: DefinitionCondition = {
  type: 'NamesAccepted',
  status: 'True',
  reason: 'NoConflicts',
  message: 'no conflicts found',
}

function setList(names: DefinitionNames, part: 'shortNames' | 'categories', list: string[] | undefined): void {
  if (list === undefined) delete names[part]
  else names[part] = list
}

function inUse(names: readonly string[]): string {
  return names.map((name) => `${JSON.stringify(name)} is already in use`).join(', ')
}
