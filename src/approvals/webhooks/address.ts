/**
 * Which addresses a webhook may have: those that an upstream may have, by the operator's rules for webhooks, judged when
 * it is registered and again at each connection. And how an address is shown, since many an address is a secret.
 * @module
 */
import type { AddressRules } from '../../connector/mcp/address.ts'
import { refusalAt, type Resolver } from '../../connector/mcp/judge.ts'

/** What the operator allows beyond public addresses over https. */
export type WebhookRules = Pick<AddressRules, 'allowPrivate' | 'hosts'>

const WORDS = {
  what: 'webhook',
  allow: 'name the host under webhooks.hosts in the configuration file, or set webhooks.allowPrivate there,',
}

/** The rules with the words for refusals. */
export const rulesFor = (rules: WebhookRules): AddressRules => ({ ...rules, words: WORDS })

/**
 * Why an address is refused, or undefined. A name is looked up, too; one that cannot be looked up now is judged when it
 * is connected to.
 */
export const refusalOf = (url: string, rules: WebhookRules, resolver?: Resolver): Promise<string | undefined> =>
  refusalAt(url, rulesFor(rules), resolver)

export type { Resolver }
export { shownUrl } from '../../connector/mcp/shown-url.ts'
