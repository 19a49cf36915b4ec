/**
 * Reads the ranges for the cluster IPs of Services: the ranges of all ServiceCIDRs that are ready and not terminating.
 * A ServiceCIDR without a Ready condition counts as ready, because the control loop that sets the condition may not be
 * running.
 */
import type { ServiceCIDR } from '../../../api/kinds/networking/service-cidr.ts'
import { type IpRange, parseRange } from '../../../api/model/ip-range.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import type { Resource } from '../catalogue/resource.ts'
import { readObject } from '../reads/read-stored.ts'

/** Caches the ranges until a ServiceCIDR changes. */
export class ReadyRanges {
  readonly #find: () => Resource | undefined
  #followed: Resource | undefined
  /** The cached ranges. Reset to undefined when a ServiceCIDR changes. */
  #known: { readonly ranges: readonly IpRange[] | undefined } | undefined

  /**
   * Creates an instance. `find` returns the ServiceCIDR type, which is looked up later because it is not served yet.
   */
  constructor(find: () => Resource | undefined) {
    this.#find = find
  }

  /**
   * Returns the ranges, starting with the ranges of the default ServiceCIDR. Undefined if there is no default
   * ServiceCIDR yet.
   */
  current(): readonly IpRange[] | undefined {
    const resource = this.#find()
    if (resource === undefined) return undefined
    if (this.#followed !== resource) this.#follow(resource)
    this.#known ??= { ranges: readRanges(resource) }
    return this.#known.ranges
  }

  #follow(resource: Resource): void {
    this.#followed = resource
    resource.cache.onChange(() => {
      this.#known = undefined
    })
  }
}

function readRanges({ cache, vendor }: Resource): readonly IpRange[] | undefined {
  const all = [...cache.slices({ namespace: undefined })].flat().map(({ json }) => readObject(json))
  const isDefault = ({ metadata }: ApiObject) => metadata.name === vendor.apiService
  const first = all.find(isDefault)
  if (first === undefined) return undefined
  return [first, ...all.filter((each) => each !== first)].filter(isReady).flatMap(rangesOf)
}

function isReady({ metadata, status }: ServiceCIDR): boolean {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  return metadata.deletionTimestamp === undefined && (ready === undefined || ready.status === 'True')
}

function rangesOf({ spec }: ServiceCIDR): IpRange[] {
  return (spec?.cidrs ?? []).flatMap((text) => parseRange(text) ?? [])
}
