/**
 * The skills that come with the gateway, by name: the only ones a grant can give.
 * @module
 */

/** Written methods of the presets; a profile may name no other. */
export const bundledSkills: readonly string[] = Object.freeze([
  'ppc-method',
  'ppc-honesty',
  'seo-method',
  'voice-guide',
  'product-content',
  'product-page-seo',
  'humanizer',
])
