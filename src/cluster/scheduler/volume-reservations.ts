/**
 * Volumes and claims of Pods that were placed and whose binding is under way: until the API server's word has come, no
 * other Pod gets the same volume, nor the same claim on another node.
 */
export class VolumeReservations {
  /** The claim that each volume is for. */
  readonly #volumes = new Map<string, string>()
  /** The node that each claim is provisioned for. */
  readonly #claims = new Map<string, string>()

  /** Whether the volume is for another claim than this. */
  isForOther(volume: string, claim: string): boolean {
    const holder = this.#volumes.get(volume)
    return holder !== undefined && holder !== claim
  }

  /** The volume that is reserved for the claim. */
  volumeFor(claim: string): string | undefined {
    for (const [volume, holder] of this.#volumes) if (holder === claim) return volume
    return undefined
  }

  /** The node that the claim is to be provisioned for. */
  nodeFor(claim: string): string | undefined {
    return this.#claims.get(claim)
  }

  /** Returns a function that takes the reservation back. */
  reserve({ volumes, claims, node }: ReservedVolumes): () => void {
    for (const [claim, volume] of volumes) this.#volumes.set(volume, claim)
    for (const claim of claims) this.#claims.set(claim, node)
    return () => {
      for (const [claim, volume] of volumes) if (this.#volumes.get(volume) === claim) this.#volumes.delete(volume)
      for (const claim of claims) if (this.#claims.get(claim) === node) this.#claims.delete(claim)
    }
  }
}

/** What a placement needs of volumes. */
export interface ReservedVolumes {
  /** By claim, the volume that exists and is for it. */
  readonly volumes: ReadonlyMap<string, string>
  /** The claims whose volumes are to be made for the node. */
  readonly claims: readonly string[]
  readonly node: string
}
