// All views, in the order of the navigation; each is loaded when it is first shown. A view that
// `needs` a method is left out if the server does not have it.

import { t } from '../core/words.js';

export const VIEWS = [
  { id: 'overview', letter: 'o', name: () => t('Overview'), load: () => import('./overview.js') },
  { id: 'corrections', letter: 'c', name: () => t('Corrections'), load: () => import('./corrections.js') },
  { id: 'learning', letter: 'l', name: () => t('Learning'), load: () => import('./learning.js') },
  { id: 'mappings', letter: 'm', name: () => t('Mappings'), load: () => import('./mappings.js') },
  { id: 'verdicts', letter: 'v', name: () => t('Verdicts'), load: () => import('./verdicts.js') },
  { id: 'reviews', letter: 'r', name: () => t('Reviews'), load: () => import('./reviews.js') },
  { id: 'proposals', letter: 'p', name: () => t('Proposals'), load: () => import('./proposals.js') },
  { id: 'sessions', letter: 's', name: () => t('Sessions'), needs: 'TurnService/ListTurns', load: () => import('./sessions.js') },
  { id: 'explain', letter: 'e', name: () => t('Explain'), load: () => import('./explain.js') },
  { id: 'administration', letter: 'a', name: () => t('Administration'), load: () => import('./administration.js') },
];
