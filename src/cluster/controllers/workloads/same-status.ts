/** Whether two statuses are equal. Ignores zero counts and empty lists, because the server omits them. */
import { sameJson } from '../../../api/json/json.ts'

export function sameStatus(a: object, b: object): boolean {
  return sameJson(withoutEmpty(a), withoutEmpty(b))
}

function withoutEmpty(status: object): object {
  return Object.fromEntries(
    Object.entries(status).filter(([, value]) => value !== 0 && value !== '' && (value as unknown[])?.length !== 0),
  )
}
