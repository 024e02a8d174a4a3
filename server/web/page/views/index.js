// All views, in the order of the navigation; each is loaded when it is first shown.

import { t } from '../core/words.js';

export const VIEWS = [
  { id: 'overview', letter: 'o', name: () => t('Overview'), load: () => import('./overview.js') },
  { id: 'corrections', letter: 'c', name: () => t('Corrections'), load: () => import('./corrections.js') },
];
