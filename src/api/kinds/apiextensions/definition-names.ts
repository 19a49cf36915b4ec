/**
 * Reserves the names of custom resources, which must be unique within their API group. The write that accepts a name
 * also reserves the name in the store, so two servers cannot accept the same name for two definitions.
 */
import { type FieldError, invalid } from '../../model/field-error.ts'
import { checkDns1035Label } from '../../model/names.ts'
import type { KindReservations, Reservation } from '../../schema/reservations.ts'
import type { CustomResourceDefinition, DefinitionNames } from './definition-fields.ts'

/** Returns the names of a custom resource for URL paths and the command line. */
export function resourceNames({ plural = '', singular = '', shortNames = [] }: DefinitionNames): string[] {
  return [plural, singular, ...shortNames].filter((name) => name !== '')
}

/** Returns the kinds of a resource's objects and lists, as used in the field `kind`. */
export function kindNames({ kind = '', listKind = '' }: DefinitionNames): string[] {
  return [kind, listKind].filter((name) => name !== '')
}

export const definitionReservations: KindReservations<CustomResourceDefinition> = {
  reservationsOf: ({ spec, status }) => {
    const names = status?.acceptedNames ?? {}
    const reserve = (pool: string, all: string[]): Reservation[] =>
      [...new Set(all.filter(isName))].map((name) => ({ pool, value: `${spec?.group ?? ''}/${name}` }))
    return [...reserve('definition-resources', resourceNames(names)), ...reserve('definition-kinds', kindNames(names))]
  },
  refusal: ({ value }): FieldError =>
    invalid(
      'status.acceptedNames',
      value.slice(value.indexOf('/') + 1),
      'another definition in the group uses this name',
    ),
}

/** Whether a name is well-formed. Malformed names, which clients can write to the status, are not reserved. */
function isName(name: string): boolean {
  return checkDns1035Label(name.toLowerCase()).length === 0
}
