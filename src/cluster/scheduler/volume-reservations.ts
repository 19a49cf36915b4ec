/**
 * Reserves the volumes and claims of placed Pods while their binding is in progress. Until the API server confirms the
 * binding, no other Pod can get the same volume or use the same claim on another node.
 */
export class VolumeReservations {
  /** Keys of the claims for which volumes are reserved, by volume name. */
  readonly #volumes = new Map<string, string>()
  /** By claim, the node for which the claim's volume is provisioned. */
  readonly #claims = new Map<string, string>()

  /** Whether a claim other than this one has reserved the volume. */
  isForOther(volume: string, claim: string): boolean {
    const holder = this.#volumes.get(volume)
    return holder !== undefined && holder !== claim
  }

  /** Returns the volume that is reserved for the claim, if any. */
  volumeFor(claim: string): string | undefined {
    for (const [volume, holder] of this.#volumes) if (holder === claim) return volume
    return undefined
  }

  /** Returns the node for which the claim's volume will be provisioned, if any. */
  nodeFor(claim: string): string | undefined {
    return this.#claims.get(claim)
  }

  /** Reserves volumes and claims. Returns a function that releases them. */
  reserve({ volumes, claims, node }: ReservedVolumes): () => void {
    for (const [claim, volume] of volumes) this.#volumes.set(volume, claim)
    for (const claim of claims) this.#claims.set(claim, node)
    return () => {
      for (const [claim, volume] of volumes) if (this.#volumes.get(volume) === claim) this.#volumes.delete(volume)
      for (const claim of claims) if (this.#claims.get(claim) === node) this.#claims.delete(claim)
    }
  }
}

/** The volumes and claims to reserve for a Pod on a node. */
export interface ReservedVolumes {
  /** The chosen volumes by claim, for claims that use an existing volume. */
  readonly volumes: ReadonlyMap<string, string>
  /** Claims whose volumes will be provisioned for the node. */
  readonly claims: readonly string[]
  readonly node: string
}
